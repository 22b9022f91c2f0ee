"""Forward mode, and what moving hard edges contribute to the average of a pixel."""

from dataclasses import dataclass, field

import torch

from app.engine.edges import Average, average
from app.engine.findings import Finding
from app.engine.strategies._contract import Evidence, Strategy
from app.engine.strategies.forward import forward
from app.engine.tile import Image, Tangents, Tile, Vectors

COUNTS = ("pixels", "crossings", "appeared", "vanished", "unfollowed")
LOST = ("appeared", "vanished", "unfollowed")
FEW = 0.01
"""Of the crossings: so many may vanish at the ends of edges, where each is a small part."""


@dataclass(slots=True)
class Following:
    """The tiles of one map, and what was met in them.

    Attributes:
        counts: the sums of what each tile's `Boundary` counts, by name.
        variance: the sum of the squares of the standard errors.
        uncertain: how many values have one.
        largest: the largest derivative of all.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    variance: float = 0.0
    uncertain: int = 0
    largest: float = 0.0

    def differentiate(self, tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
        """The image at the centres of pixels, and the tangents of the image averaged over pixels.

        The average's derivative is that of the interior plus what edges add that move through the
        pixel. A pixel without a moving edge has the tangent of `forward`, to the bit.

        Raises:
            PositionsError: the renderer cannot be asked at positions of our choice.
        """
        found = average(tile, directions, forward.differentiate)
        self._add(found)
        return found.image, found.tangents

    def _add(self, found: Average) -> None:
        for name in COUNTS:
            self.counts[name] += getattr(found.edges, name)
        error = torch.nan_to_num(found.standard_error.double(), posinf=0.0)
        self.variance += float(error.square().sum())
        self.uncertain += int((error > 0).sum())
        size = torch.nan_to_num(found.tangents, posinf=0.0, neginf=0.0).abs()
        self.largest = max(self.largest, float(size.max()) if size.numel() else 0.0)

    def evidence(self) -> Evidence:
        """How sure the map is, and whether edges were lost."""
        error = (self.variance / max(1, self.uncertain)) ** 0.5
        relative = error / self.largest if self.largest else 0.0
        many = max(1, self.counts["crossings"])
        few = self.counts["vanished"] <= FEW * many
        lost = [
            f"{self.counts[name]} {name}"
            for name in LOST
            if self.counts[name] and not (few and name == "vanished")
        ]
        detail = f"{', '.join(lost).capitalize()}, beside {self.counts['crossings']} crossings."
        findings = (Finding(code="edges_lost", detail=detail),) if lost else ()
        return Evidence(relative=relative, counts=dict(self.counts), findings=findings)


def begun() -> Strategy:
    """The strategy for one map, which knows afterwards how sure that is."""
    tiles = Following()
    return Strategy(edge.name, edge.help, tiles.differentiate, evidence=tiles.evidence)


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """One tile, of which nothing else is to be known: see `Following.differentiate`."""
    return Following().differentiate(tile, directions)


edge = Strategy(
    "edge",
    "forward mode, and what moving hard edges add to a pixel's average",
    differentiate,
    begin=begun,
)
