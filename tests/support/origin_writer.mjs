// Writes a board as the origin's tools do: an exclusive lock file, the whole file read and written under it, a temporary
// file and a rename. Arguments: the workspace, how many changes, and "hang" to stop for ever while holding the lock.
import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [workspace, changes, hang] = process.argv.slice(2);
const file = join(workspace, ".project", "tasks.json");
const lock = join(workspace, ".project", "tasks.lock");
const WAIT_MS = 1500;
const RETRY_MS = 25;
const STALE_MS = 120_000;

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function take() {
  const token = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  const began = Date.now();
  for (;;) {
    try {
      writeFileSync(lock, JSON.stringify({ token, acquiredAt: new Date().toISOString() }), { flag: "wx" });
      return true;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    try {
      if (Date.now() - statSync(lock).mtimeMs > STALE_MS) {
        unlinkSync(lock);
        continue;
      }
    } catch {
      continue; // it went away meanwhile
    }
    if (Date.now() - began > WAIT_MS) return false;
    pause(RETRY_MS);
  }
}

let busy = 0;
for (let done = 0; done < Number(changes); ) {
  if (!take()) {
    busy += 1;
    continue;
  }
  const board = JSON.parse(readFileSync(file, "utf8"));
  if (hang) {
    process.stdout.write("holding\n");
    pause(600_000);
  }
  done += 1;
  board.tasks.find((task) => task.id === "NODE").count = done;
  board.tasks.push({ id: `NODE-${done}`, description: "añadido · 追加 🐜", status: "planned", done });
  const draft = `${file}.tmp-${process.pid}-${done}`;
  writeFileSync(draft, `${JSON.stringify(board, null, 2)}\n`);
  renameSync(draft, file);
  unlinkSync(lock);
  if (done % 3 === 0) pause(1);
}
process.stdout.write(`${JSON.stringify({ busy })}\n`);
