"""Edges: where they are seen, how they move, and what that adds to a derivative."""

from app.engine.edges.average import Average, average
from app.engine.edges.boundary import Boundary, boundary
from app.engine.edges.errors import PositionsError
from app.engine.edges.settings import Settings

__all__ = ["Average", "Boundary", "PositionsError", "Settings", "average", "boundary"]
