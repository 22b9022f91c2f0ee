"""Recorded tiles: a renderer and its derivative as plain operations, replayed without autograd."""

from app.engine.recording.errors import UnrecordableError
from app.engine.recording.proof import same_image
from app.engine.recording.record import MOST, PROMPT, record
from app.engine.recording.recording import Compiled, Recording, Replay

__all__ = [
    "MOST",
    "PROMPT",
    "Compiled",
    "Recording",
    "Replay",
    "UnrecordableError",
    "record",
    "same_image",
]
