"""Foreign code is at work: what it raises is told as the renderer's own error."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.engine.errors import EngineError, RenderError
from app.engine.memory import out_of_memory
from app.engine.text import without_paths
from renderers import Loaded, RendererError


@contextmanager
def rendering(loaded: Loaded) -> Iterator[None]:
    """Turn what a renderer raises into a `RenderError`; running out of memory stays what it is."""
    try:
        yield
    except (RendererError, EngineError):
        raise
    except Exception as error:
        if out_of_memory(error):
            raise
        raise RenderError(
            f"Renderer {loaded.spec.name!r} raised {type(error).__name__}: "
            f"{without_paths(str(error))}"
        ) from error
