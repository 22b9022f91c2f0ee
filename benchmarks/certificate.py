"""What a certificate adds to a map: `python -m benchmarks.certificate`."""

from collections.abc import Iterator
from dataclasses import replace

from app.engine import MOST, allocate, find_method, sensitivity_map
from benchmarks import machine
from benchmarks.engine import placed, task_of, touch
from benchmarks.machine import Row, interleaved, ratios

# Of a large map, in the README's words; of renderers of hundreds of operations, whose calls take
# as long for a few pixels as for a thousand, at the side from which it is held.
GOAL = 10.0


def certificate_to_map(name: str, wrt: str, side: int, repeats: int) -> Row:
    """Time that a certificate takes over the time of the map without one, in per cent."""
    loaded = placed(name)
    bare = task_of(loaded, wrt, side)
    certified = replace(bare, certify=True)
    method = find_method(loaded, bare, limit=MOST)
    out = allocate(loaded, bare)
    touch(out)
    taken: list[float] = []

    def with_one() -> None:
        result = sensitivity_map(loaded, certified, method=method, out=out)
        taken.append(result.seconds["certify"])

    _, of_map = interleaved(
        [with_one, lambda: sensitivity_map(loaded, bare, method=method, out=out)], repeats
    )
    # The first run of each warms up and is not counted.
    of_certificate = machine.Timed(tuple(taken[1:]))
    middle, low, high = (100 * ratio for ratio in ratios(of_certificate, of_map))
    return Row(
        f"`{name}` d/d({wrt}), {side}x{side}: certificate / map",
        middle, GOAL, "%", spread=(low, high),
        note=f"{1e3 * of_certificate.median:.1f} ms / {1e3 * of_map.median:.0f} ms",
    )  # fmt: skip


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield certificate_to_map("sphere", "radius", side, repeats)
    yield certificate_to_map("sphere", "light", side, repeats)
    yield certificate_to_map("disc", "radius", side, repeats)


if __name__ == "__main__":
    machine.table(rows(1024, 21), [certificate_to_map("sdf_scene", "ball", 1024, 1)])
