"""What an operator can set: `SENSMAP_*` in the environment, or options of `sensmap serve`."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 10**3, "MB": 10**6,
         "GB": 10**9}  # fmt: skip


def parse_bytes(value: Any) -> Any:
    """Read `268435456`, `256MiB` or `2 GB`."""
    match = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]*)\s*", value) if isinstance(value, str) else None
    if match is None:
        return value
    unit = match[2].upper()
    if unit not in UNITS:
        raise ValueError(f"a size ends in one of {', '.join(filter(None, UNITS))}; got {match[2]}")
    return int(match[1]) * UNITS[unit]


Bytes = Annotated[int, BeforeValidator(parse_bytes)]


class Settings(BaseSettings):
    """Every setting, with its default and its bounds."""

    model_config = SettingsConfigDict(env_prefix="SENSMAP_", extra="ignore", frozen=True)

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    device: str = Field(
        "auto",
        description="where maps are computed: `cpu`, `cuda`, `cuda:N`, or `auto` (CUDA where torch "
        "sees a device); a device that is asked for and absent is an error",
    )
    renderers: tuple[str, ...] = Field(
        (), description='JSON list of the operator\'s own renderers, `["path/to/file.py:name"]`'
    )
    options: dict[str, dict[str, str]] = Field(
        {}, description='options of renderers as JSON, `{"volume": {"file": "head.npy"}}`'
    )
    memory_budget: Bytes = Field(
        160 << 20,
        ge=1 << 20,
        description="working memory of a map beside its result, in bytes or as `64MiB`; tiles are "
        "cut to fit",
    )
    probe: bool = Field(
        True, description="whether an idle worker finds out how each parameter is differentiated"
    )
    compile: Literal["off", "ahead", "background"] = Field(
        "background",
        description="whether maps that are asked for are compiled while the worker is idle "
        "(`background`), only what `sensmap compile` made is used (`ahead`), or neither (`off`)",
    )
    compile_folder: str = Field(
        "~/.cache/sensmap",
        description="where compiled maps are kept; whoever may write there may run code here",
    )
    compile_seconds: float = Field(900.0, gt=0, description="seconds that compiling one may take")
    compile_operations: int = Field(
        20_000, ge=0, description="most operations of what is compiled; more stay recorded"
    )
    store_bytes: Bytes = Field(
        256 << 20,
        ge=0,
        description="finished maps that are kept in memory, to be drawn in another way or format "
        "without being computed again",
    )
    queue: int = Field(16, ge=0, description="requests that may wait for the device; more get 503")
    timeout_s: float = Field(300.0, gt=0, description="seconds that one map may take")
    max_side: int = Field(16384, ge=1, description="most pixels a side of a frame")
    max_pixels: int = Field(1 << 26, ge=1, description="most pixels of a frame")
    max_result_bytes: Bytes = Field(2 << 30, ge=1, description="most bytes of a result in memory")
    max_body_bytes: Bytes = Field(1 << 20, ge=1, description="most bytes of a request's body")
