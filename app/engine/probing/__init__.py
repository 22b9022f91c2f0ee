"""How linear functionals of an image are differentiated: in pieces, each way tried and compared."""

from app.engine.probing.answering import Answer, answered
from app.engine.probing.asked import Asked
from app.engine.probing.choice import FORWARD, REVERSE, Choice

__all__ = ["FORWARD", "REVERSE", "Answer", "Asked", "Choice", "answered"]
