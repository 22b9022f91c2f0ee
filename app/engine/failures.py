"""What the failure of a strategy means: which rung fits it, and what its author can do."""

from app.engine.text import without_paths


def is_captured_write(failure: str) -> bool:
    """Whether forward mode refused a write into a tensor that it does not know."""
    return "in-place" in failure or "inplace" in failure


def is_older_function(failure: str) -> bool:
    """Whether a custom Function has no `setup_context`, without which transforms refuse it."""
    return "setup_context" in failure


def reads_storage(failure: str) -> bool:
    """Whether foreign code asked a tensor for its storage."""
    return "data pointer" in failure or "doesn't have storage" in failure


def explain(error: Exception) -> str:
    """What a rung's failure means to the author of a renderer."""
    text = f"{type(error).__name__}: {error}"
    if is_captured_write(text):
        advice = "The renderer writes in place into a tensor that it keeps; build a new one."
    elif reads_storage(text) or "numpy()" in text:
        advice = "Foreign code (such as NumPy) reads the tensor's storage; use torch throughout."
    elif is_older_function(text):
        advice = "A custom Function is of the older form; give it `setup_context` and a `jvp`."
    elif ("forward" in text and "implement" in text) or "jvp" in text:
        advice = "An operation has no forward-mode formula; give its Function a `jvp`."
    else:
        advice = "It raised."
    first = without_paths(str(error)).strip().partition("\n")[0]
    return f"{advice} ({type(error).__name__}: {first[:300]})"
