"""`python -m benchmarks`: every figure that the README claims, measured on this machine."""

import argparse

from benchmarks import (
    certificate,
    diagonal,
    edges,
    engine,
    entries,
    fast,
    information,
    machine,
    many,
    operations,
    serving,
)


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="small frames, for continuous tests")
    short = parser.parse_args().short
    side, repeats = (512, 3) if short else (2048, 9)
    machine.table(
        engine.rows(side, repeats),
        fast.rows(side, repeats),
        serving.rows(side, repeats),
        certificate.rows(side // 2, repeats),
        operations.rows(side // 4, repeats),
        many.rows(side // 2, repeats),
        [] if short else diagonal.rows(side // 8, repeats),
        [] if short else information.rows(side, min(5, repeats)),
        [] if short else entries.rows(side, repeats),
        [] if short else edges.rows(),
    )


main()
