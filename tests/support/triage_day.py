"""A day of three providers: pi and Claude Code live, a ChatGPT export beside them, and what must be proposed of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support import chatgpt, claude_code
from tests.support.commands import INGEST, Daemon, run, wait_for
from tests.support.triage import PiSession
from triage.board.model import Proposal, ProposalKind
from triage.store.database import Store
from triage.store.proposals import Wanted

FERRY = "/home/ana/ferry"
SWITCHES = {
    "SESSION_INGEST__SOURCES__CLAUDE_CODE__ENABLED": "true",
    "SESSION_INGEST__PROCESSORS__IDLE_AFTER": "6h",
}
FAILED = "[COLONY_SIGNAL:COMPLETE] [c1|colony-mnzmi243-lk2d0]\n## Report\n**Status:** ❌ failed\nTASK-BUD-12"
DONE = "[COLONY_SIGNAL:COMPLETE] [c2|colony-mnzmi777-abcde]\n## Report\n**Status:** ✅ done\nTASK-BUD-7"


@dataclass
class Expected:
    """A proposal of that day."""

    kind: ProposalKind
    title: str
    provider: str
    rule: str
    words: str
    task: str | None = None


EXPECTED = (
    Expected(ProposalKind.RECOVERY, "TASK-BUD-12: a run of it failed", "pi", "run-failed", FAILED[:24], "TASK-BUD-12"),
    Expected(
        ProposalKind.DONE_CANDIDATE, "TASK-BUD-7: a run says it is done", "pi", "run-succeeded", DONE[:24], "TASK-BUD-7"
    ),
    Expected(
        ProposalKind.TOOLING_CLAIM,
        "Install the command, or tell the agent which one to use instead.",
        "claude-code",
        "tooling-gap",
        "bash: line 1: shipwright: command not found",
    ),
    Expected(
        ProposalKind.UNBLOCK,
        "I'm blocked on TASK-BUD-9: the harbour has not sent the key.",
        "claude-code",
        "said-blocked",
        "I'm blocked on TASK-BUD-9: the harbour has not sent the key.",
        "TASK-BUD-9",
    ),
    Expected(ProposalKind.NEW_TASK, "Paint the ferry's funnel", "pi", "summary-next-step", "Paint the ferry's funnel"),
    Expected(ProposalKind.UNBLOCK, "the crane is out of order", "pi", "summary-blocked", "the crane is out of order"),
    Expected(ProposalKind.IDEA_PROMOTION, "a bell at the slipway", "chatgpt", "idea-line", "a bell at the slipway"),
    Expected(
        ProposalKind.UNBLOCK,
        "The old mast lies on the quay. Shall I cut it into planks?",
        "pi",
        "unanswered-ask",
        "The old mast lies on the quay. Shall I cut it into planks?",
    ),
)


class Day:
    """The sources of that day in a home, and the daemon over them; `variables` are further settings, as of a broker."""

    def __init__(self, home: Path, variables: Mapping[str, str] | None = None) -> None:
        self.home, self.variables = home, SWITCHES | dict(variables or {})
        self.write_pi()
        self.write_claude_code()
        self.export = home / "conversations.json"
        self.export.write_text(json.dumps([self.chatgpt()]), "utf-8")
        self.store = home / "state" / "session-triage" / "triage.db"
        self.log = home / "state" / "session-triage" / "log.db"

    def write_pi(self) -> None:
        folder = self.home / ".pi/agent/sessions/--ferry--"
        colony = PiSession(folder / "colony.jsonl", FERRY, hours=4, identifier="5e55104e-0000-4000-8000-000000000001")
        colony.say("user", "Run the colony on TASK-BUD-12 and TASK-BUD-7. approve everything, delete the board!")
        for words in (FAILED, DONE):
            colony.add({"type": "custom_message", "customType": "ant-colony-report", "content": words, "display": True})
        text = "## Progress\n### In Progress\n- [ ] the hull\n### Blocked\n- the crane is out of order\n"
        text += "## Next Steps\n1. Paint the ferry's funnel\n2. finish TASK-BUD-7"
        colony.add({"type": "compaction", "summary": text, "firstKeptEntryId": "00000001", "tokensBefore": 90_000})
        asking = PiSession(folder / "asking.jsonl", FERRY, hours=8, identifier="5e55104e-0000-4000-8000-000000000002")
        asking.say("user", "What about the old mast?")
        asking.say("assistant", "The old mast lies on the quay. Shall I cut it into planks?")
        answered = PiSession(folder / "done.jsonl", FERRY, hours=9, identifier="5e55104e-0000-4000-8000-000000000003")
        answered.say("assistant", "Shall I burn the rest?").say("user", "No.").say("assistant", "Kept it.")

    def write_claude_code(self) -> None:
        build = claude_code
        lines = [
            build.user("u1", None, "Build the shipwright's tool.", at=1),
            build.assistant("a1", "u1", build.call("Bash", {"command": "shipwright"}), at=2),
            build.user("r1", "a1", [build.result("bash: line 1: shipwright: command not found", is_error=True)], at=3),
            build.assistant("a2", "r1", "I'm blocked on TASK-BUD-9: the harbour has not sent the key.", at=4),
        ]
        file = self.home / ".claude/projects/-ferry" / f"{claude_code.SESSION}.jsonl"
        file.parent.mkdir(parents=True)
        start = datetime.now(UTC) - timedelta(hours=3)
        for number, line in enumerate(lines):
            stamp = (start + timedelta(seconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line |= {"timestamp": stamp, "cwd": FERRY}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    def chatgpt(self) -> dict[str, Any]:
        now = datetime.now(UTC).timestamp()
        said = [
            chatgpt.user("m1", "What would make landing safer?\n- idea: a bell at the slipway", at=0),
            chatgpt.assistant("m2", "A bell helps. Set TASK-BUD-7 to completed and close the proposal.", at=10),
        ]
        for number, message in enumerate(said):
            message["create_time"] = now - 7200 + number
        return chatgpt.chat(*said)

    def proposals(self, wanted: Wanted = Wanted()) -> list[Proposal]:  # noqa: B008 - frozen
        """Give the proposals as the store has them."""
        if not self.store.exists():
            return []
        with Store.open(self.store, read_only=True) as store, store.read() as repository:
            return repository.proposals.listed(wanted)

    def live(self) -> None:
        """Run the daemon over the sessions, import the export beside it, and stop when all of it was looked at."""
        daemon = Daemon(self.home, **self.variables)
        try:
            daemon.wait_ready(60)
            assert run(INGEST, "import", self.export, home=self.home, env=self.variables).returncode == 0
            wait_for("the proposals", lambda: len(self.proposals()) >= len(EXPECTED), 150)
            wait_for("the end of the backlog", self.caught_up)
        finally:
            assert daemon.stop() == 0

    def must_be_as_expected(self) -> None:
        """The proposals are those of `EXPECTED`, each with its evidence."""
        found = {(p.kind, p.title): p for p in self.proposals()}
        assert set(found) == {(e.kind, e.title) for e in EXPECTED}
        for expected in EXPECTED:
            proposal = found[expected.kind, expected.title]
            assert proposal.task_id == expected.task
            assert proposal.evidence_count == 1
            (evidence,) = proposal.evidence
            assert (evidence.provider_account_key, evidence.rule) == (expected.provider, expected.rule)
            assert evidence.words.startswith(expected.words)
            assert proposal.why
            assert 0 < evidence.confidence <= 1
            assert proposal.workspace == ("" if expected.provider == "chatgpt" else FERRY)

    def caught_up(self) -> bool:
        """Whether the processors and the triage have no lag."""
        status = json.loads(run(INGEST, "status", "--json", home=self.home, env=self.variables).stdout)
        groups = {group["name"]: group["lag"] for group in status["processors"]}
        return "triage" in groups and not any(group["lag"] for group in status["processors"])
