"""A tile's image and tangents as plain operations, replayed without any differentiation.

What is recorded is a strategy at work on a few positions. Its replay takes other positions, other
parameter values and other directions, keeps no state of forward mode, and gives the same bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.directions import Directions
from app.engine.recording.errors import UnrecordableError
from app.engine.recording.graph import Output
from app.engine.recording.stages import Stages
from renderers import Pixels


@runtime_checkable
class Taking(Protocol):
    """What takes something beside positions."""

    def given(
        self, recording: "Recording", inputs: Sequence[Tensor], known: Mapping[Output, Any]
    ) -> list[Tensor]:
        """What it takes beside positions, out of a recording's inputs and what its scene gave."""


@runtime_checkable
class Compiled(Taking, Protocol):
    """What does a recording's work on a tile in its place."""

    def __call__(self, x: Tensor, y: Tensor, taken: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The image and its tangents at flat positions."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What a renderer does at a position, with its derivative or without.

    Attributes:
        stages: the programs.
        params: names of the parameters, in the order in which they are given.
        frame: width and height of the only frame it holds for; None when it never looked.
        channels: how many channels the image has.
        steps: how many operations a tile takes.
        gradient: how many entries it gives the derivative by, all at once; 0 where it is given a
            direction.
        kernel: what does its work on a tile; None where its steps are done one by one.
    """

    stages: Stages
    params: tuple[str, ...]
    frame: tuple[int, int] | None
    channels: int
    steps: int
    gradient: int = 0
    kernel: Compiled | None = None

    def by(self, kernel: Compiled | None) -> "Recording":
        """The same, where tiles are the work of a kernel, or of none."""
        return replace(self, kernel=kernel)

    def bind(self, params: Mapping[str, Tensor], directions: Directions) -> "Replay":
        """The recording at some parameter values, along some directions."""
        return Replay(self, tuple(params[name] for name in self.params), directions)


class Replay:
    """A recording with its parameters; what no position changes is done once."""

    def __init__(self, recording: Recording, params: tuple[Tensor, ...], directions: Directions):
        self.recording = recording
        self.params = params
        self.directions = directions
        self._scenes: dict[int, dict[Output, Any]] = {}
        self._taken: dict[int, list[Tensor]] = {}

    def __call__(
        self, where: Pixels, chunk: slice
    ) -> tuple[Float[Tensor, "n channels"], tuple[Tensor, ...]]:
        """The image at flat positions, and its tangents along a chunk of the directions.

        These are `(k, n, channels)` in one piece, or of each channel, `(k, n)`.

        Raises:
            UnrecordableError: what comes out is no image of these positions.
        """
        every = self.recording.gradient
        chosen = range(0) if every else range(*chunk.indices(len(self.directions)))
        with torch.no_grad():
            image, tangents = self._replayed(where, chosen)
        shape = (*where.shape, self.recording.channels)
        right = (every, *where.shape) if every else (1, *shape)
        if image.shape != shape or any(tangent.shape != right for tangent in tangents):
            raise UnrecordableError("other_size", "It is of another shape for other positions.")
        if every:
            return image, tuple(self.directions.applied(plane, chunk) for plane in tangents)
        return image, (torch.cat(tangents),) if len(tangents) > 1 else tuple(tangents)

    def _replayed(self, where: Pixels, chosen: range) -> tuple[Tensor, list[Tensor]]:
        stages, size = self.recording.stages, where.x.numel()
        # Of many directions, the scenes of those at hand alone.
        for number in [number for number in self._scenes if number not in chosen and number >= 0]:
            del self._scenes[number]
            self._taken.pop(number, None)
        if self.recording.kernel:
            # The image is computed again for each direction: that is less than keeping its parts.
            found = [self._by_kernel(self.recording.kernel, where, n) for n in chosen or (-1,)]
            return found[0][0], [tangent for _, *along in found for tangent in along]
        if len(chosen) <= 1 or not stages.separable:
            found = [
                stages.whole(size, self._inputs(where, number), self._scene(where, number))
                for number in chosen or (-1,)
            ]
            return found[0][0], [tangent for _, *along in found for tangent in along]
        first = self._scene(where, chosen[0])
        given = stages.shared(size, self._inputs(where, chosen[0]), first)
        shared = dict(zip(stages.shared.given[1:], given[1:], strict=True))
        tangents: list[Tensor] = []
        for number in chosen:
            known = {**self._scene(where, number), **shared}
            tangents += stages.along(size, self._inputs(where, number), known)
        return given[0], tangents

    def given(self, kernel: "Taking", where: Pixels) -> list[Tensor]:
        """What is given to a kernel beside positions, for the first direction."""
        number = 0 if len(self.directions) and not self.recording.gradient else -1
        scene = self._scene(where, number)
        return kernel.given(self.recording, self._inputs(where, number), scene)

    def _by_kernel(self, kernel: Compiled, where: Pixels, number: int) -> tuple[Tensor, ...]:
        if number not in self._taken:
            inputs = self._inputs(where, number)
            known = self._scene(where, number)
            self._taken[number] = kernel.given(self.recording, inputs, known)
        return kernel(where.x, where.y, self._taken[number])

    def _inputs(self, where: Pixels, number: int) -> tuple[Tensor, ...]:
        which = slice(number, number + 1)
        along = (self.directions.rows(which, where.x.device, where.x.dtype),) if number >= 0 else ()
        return (where.x, where.y, *self.params, *along)

    def _scene(self, where: Pixels, number: int) -> dict[Output, Any]:
        if number not in self._scenes:
            scene = self.recording.stages.scene
            found = scene(0, self._inputs(where, number), {})
            self._scenes[number] = dict(zip(scene.given, found, strict=True))
        return self._scenes[number]
