"""A tensor that is zero but for some parts, which are kept apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from app.engine.recording.graph import Argument, Reference

Shape = tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A tensor that is zero but for parts along one axis; all zero where there are none.

    Attributes:
        shape: of the tensor.
        like: some tensor of its dtype and device.
        axis: along which the parts lie.
        parts: by where they start, where they stop and what stands there, with that axis first.
    """

    shape: Shape
    like: Reference
    axis: int = 0
    parts: Mapping[int, tuple[int, Reference]] = field(default_factory=dict)

    def joined(self, other: "Parts") -> "Parts | None":
        """The sum, where no part of one overlaps a part of the other."""
        if self.shape != other.shape or (self.parts and other.parts and self.axis != other.axis):
            return None
        ends = sorted((a, b) for held in (self, other) for a, (b, _) in held.parts.items())
        if any(stop > after for (_, stop), (after, _) in pairwise(ends)):
            return None
        axis = self.axis if self.parts else other.axis
        return Parts(self.shape, self.like, axis, {**self.parts, **other.parts})
