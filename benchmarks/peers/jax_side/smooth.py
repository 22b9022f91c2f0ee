"""What `renderers/_smooth.py` holds, in `jax.numpy`."""

import jax.numpy as jnp


def soft_step(x):
    """Cubic step from 0 to 1."""
    inside = jnp.clip(x, 0.0, 1.0)
    return inside * inside * (3.0 - 2.0 * inside)


def safe_sqrt(x, floor=1e-12):
    """Square root that is constant below a floor."""
    return jnp.sqrt(jnp.maximum(x, floor))


def soft_relu(x, width):
    """A rounded `max(x, 0)`."""
    return 0.5 * (x + jnp.sqrt(x * x + width * width))


def softplus(x):
    """`log(1 + exp(x))`."""
    return jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


def logistic(x):
    """`1 / (1 + exp(-x))`."""
    return 0.5 + 0.5 * jnp.tanh(0.5 * x)


def soft_min(a, b, width):
    """Exponential smooth minimum."""
    return b - width * softplus((b - a) / width)
