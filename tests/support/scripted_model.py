"""An OpenAI-compatible chat-completions server on loopback that answers from a script, for driving a real agent.

A turn is `{"text": "…"}`, or `{"tool": "bash", "arguments": {…}}`; turns are used in order and then again. Answers
stream when the request asks for it, as agents expect.
"""

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Turn = dict[str, Any]


def _message(turn: Turn, number: int) -> tuple[dict[str, Any], str]:
    if "tool" not in turn:
        return {"role": "assistant", "content": turn["text"]}, "stop"
    function = {"name": turn["tool"], "arguments": json.dumps(turn["arguments"])}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call]}, "tool_calls"


def _answer(turn: Turn, number: int, model: str, stream: bool) -> tuple[str, bytes]:
    message, reason = _message(turn, number)
    head = {"id": f"c{number}", "model": model, "created": 0}
    if not stream:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choices = [{"index": 0, "message": message, "finish_reason": reason}]
        whole = {**head, "object": "chat.completion", "usage": usage, "choices": choices}
        return "application/json", json.dumps(whole).encode()
    deltas = [(message, None), ({}, reason)]
    chunks = [
        {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in deltas
    ]
    events = [*map(json.dumps, chunks), "[DONE]"]
    return "text/event-stream", "".join(f"data: {event}\n\n" for event in events).encode()


@contextmanager
def scripted_model(script: list[Turn]) -> Iterator[str]:
    """Serve a script while the context lasts; gives the base URL."""
    turns, numbers = itertools.cycle(script), itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kind, body = _answer(next(turns), next(numbers), asked.get("model", "m"), bool(asked.get("stream")))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
