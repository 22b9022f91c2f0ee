"""How closely edges are looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How closely edges are looked at. Lengths are in pixels.

    Attributes:
        lines: lines through a pixel, as many from left to right as from top to bottom. Where edges
            meet, several times as many are taken, and as many more intervals of each.
        scan: intervals in a pixel's length of a line; of several crossings in one interval the
            one that changes the image most is followed.
        find: halvings of such an interval until a crossing counts as found.
        reach: how far a crossing may move within a step of the parameter. A smaller reach is
            closer to the derivative on strongly curved edges, a larger one further from rounding.
        follow: halvings of the bracket in which a moved crossing is found again.
        lean: halvings of the bracket in which the edge's direction is found.
        budget: most evaluations, in evaluations of the tile's own pixels. What is left when it is
            spent is counted and gets the interior part alone.
        least: evaluations that even the smallest tile may spend.
    """

    lines: int = 4
    scan: int = 4
    find: int = 10
    reach: float = 0.125
    follow: int = 12
    lean: int = 12
    budget: float = 64.0
    least: int = 1 << 18

    @property
    def margin(self) -> int:
        """Intervals by which a line goes on beyond its pixel at either end.

        A line stands for a strip of width `1 / lines`. An edge that leans by up to 2 pixels a
        pixel crosses the strip's rim up to `1 / lines` away from where it crosses the line.
        """
        return -(-self.scan // self.lines)
