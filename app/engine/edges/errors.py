"""What the edge strategy cannot be asked.

EngineError
└── PositionsError      the renderer cannot be asked at positions of our choice
"""

from app.engine.errors import EngineError


class PositionsError(EngineError):
    """The renderer cannot be asked at positions of our choice, or not on a grid of pixels."""

    code = "needs_pixel_renderer"
    field = "strategy"
