"""Refusing a body that is too long: by its announced length, or where it passes the limit."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import problem


class BodyLimit:
    """Answers 413 to a body that says it is too long, and stops one that turns out to be."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self.app = app
        self.most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is short enough."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self.most_bytes:
            # Closed, or the server would read to the end what it throws away.
            refusal = problem(
                413,
                "body_too_large",
                f"A body has at most {self.most_bytes} bytes.",
                headers={"Connection": "close"},
            )
            await refusal(scope, receive, send)
            return
        await self.app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most_bytes:
                raise HTTPException(413, headers={"Connection": "close"})
            return message

        return counted
