"""What descriptions and problems look like: what the API answers with beside maps, in pydantic."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class ReportInfo(BaseModel):
    """What was found out about a parameter."""

    wrt: str
    strategy: str = Field(description="how it is differentiated; empty when it cannot be rendered")
    passed_over: list[dict[str, str]] = Field(description="the strategies above, with the reason")
    relative: float = Field(description="disagreement with differences over the largest derivative")
    warnings: list[dict[str, Any]] = Field(description="code, message and pixels of each finding")
    whole: bool = Field(description="whether the frame must be computed in one piece")
    bytes_per_pixel: float = Field(description="working memory of a map")
    band: int = Field(description="pixels of a 2048x2048 frame that are computed at once")
    ratio: float = Field(description="seconds of a map over seconds of the image")
    unrecorded: str = Field(description="why tiles are not replayed from a recording; empty if so")
    error: str = Field(description="why it cannot be rendered")
    clean: bool = Field(description="whether there is nothing to change")


class ParamInfo(BaseModel):
    """A declared parameter."""

    shape: list[int]
    default: Any = Field(description="number or nested lists; null when it is too long to show")
    low: float | None
    high: float | None
    unit: str
    help: str
    strategy: str | None = Field(
        None, description="how `auto` differentiates it; null while that is not known"
    )
    passed_over: list[dict[str, str]] = Field(
        default_factory=list, description="the strategies above, with what spoke against each"
    )
    warnings: list[dict[str, Any]] = Field(
        default_factory=list, description="what is to be said of its maps"
    )


class RendererInfo(BaseModel):
    """A renderer and its parameters."""

    name: str
    summary: str
    doc: str
    kind: Literal["pixel", "frame"]
    channels: list[str]
    random: bool
    params: dict[str, ParamInfo]
    strategies: list[str] = Field(description="what `strategy` may be")


class LimitsInfo(BaseModel):
    """What the server takes."""

    max_side: int
    max_pixels: int
    max_result_bytes: int


class Catalogue(BaseModel):
    """Every renderer, what did not load, and what the server takes."""

    device: str
    renderers: list[RendererInfo]
    failures: dict[str, str] = Field(description="renderers that did not load, with the reason")
    formats: list[str]
    limits: LimitsInfo


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    code: str = Field(description="stable identifier for programs")
    detail: str
    field: str = ""
    errors: list[dict[str, str]] = Field(default_factory=list)
