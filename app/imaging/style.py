"""How a map is drawn, apart from what is drawn."""

from dataclasses import dataclass

from app.imaging.colormaps import check_colormap
from app.imaging.errors import InvalidStyleError, quote
from app.imaging.norm import check_norm
from app.imaging.rescale import Rescale


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The choices of a heatmap.

    Attributes:
        colormap_name: A key of `COLORMAPS`; None takes the default diverging one for a range on
            both sides of zero (`DEFAULT_OVERLAY` over an image), else the default sequential one.
        rescale: The values at the two ends of the colormap; None finds them (`robust_rescale`).
        symmetric: Whether a range that is found is symmetric about zero.
        norm: A key of `NORMS`.
        channel: A key of `REDUCTIONS`, a channel's name, or its index.
        overlay: 0 draws the map alone; above, the map lies over the dimmed primal image with at
            most this opacity, falling to nothing where the map is zero.
        colorbar: Whether to add the range as a bar with ticks, and the title.

    Raises:
        UnknownNameError: No such colormap or norm.
        InvalidRescaleError: A range that is not two finite numbers in increasing order.
        InvalidStyleError: An overlay outside [0, 1].
    """

    colormap_name: str | None = None
    rescale: tuple[float, float] | None = None
    symmetric: bool = True
    norm: str = "linear"
    channel: str | int = "mean"
    overlay: float = 0.0
    colorbar: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn, before any work is done."""
        check_norm(self.norm)
        if self.colormap_name is not None:
            check_colormap(self.colormap_name)
        if self.rescale is not None:
            Rescale(*self.rescale)
        if not 0 <= self.overlay <= 1:
            raise InvalidStyleError(
                f"An overlay is an opacity from 0 to 1; got {quote(self.overlay)}."
            )
