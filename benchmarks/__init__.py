"""Measurements: ratios within one run, with the machine named. `python -m benchmarks` prints them."""
