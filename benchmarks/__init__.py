"""Measurements: ratios within one run, the machine named; `python -m benchmarks` prints them."""
