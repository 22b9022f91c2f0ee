"""Refusing a body by its announced length, before a byte of it is read."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.errors import problem


class BodyLimit:
    """Answers 413 to a body that says it is too long; one that does not say is counted later."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self.app = app
        self.most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is short enough."""
        length = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        if not (length.isdigit() and int(length[:20]) > self.most_bytes):
            await self.app(scope, receive, send)
            return
        refusal = problem(
            413,
            "body_too_large",
            f"A body has at most {self.most_bytes} bytes.",
            headers={"Connection": "close"},
        )
        await refusal(scope, receive, send)
