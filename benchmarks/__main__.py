"""`python -m benchmarks`: every figure that the README claims, measured on this machine."""

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime

from benchmarks import engine, machine, serving


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="small frames, for continuous tests")
    short = parser.parse_args().short
    side, repeats = (512, 3) if short else (2048, 5)
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine.describe()}\n")
    print("| what | measured | goal | met | |\n|---|---|---|---|---|")
    table(engine.rows(side, repeats))
    table(serving.rows(side, repeats))


def table(rows: Iterable[machine.Row]) -> None:
    """Print rows as they come."""
    for row in rows:
        print(row, flush=True)


main()
