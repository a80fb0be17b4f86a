"""Requests that are not answered with 2xx, and what the sender is told."""

from collections.abc import Mapping

from starlette.responses import JSONResponse, Response


class Refusal(Exception):  # noqa: N818 - it names the thing, and is an answer rather than an error of ours
    """A request that is refused: `status` is HTTP's, the message says why in words for whoever runs the sender.

    A status below 500 says that the same request will be refused again; 503 says when to send it again.
    """

    def __init__(self, status: int, words: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The answer, as JSON."""
        return JSONResponse({"error": str(self)}, self.status, self.headers)
