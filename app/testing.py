"""A test of conformance for people who write renderers, to import in their own test suite.

from app.testing import assert_conforms
from my_scene import ripples

def test_ripples_conforms():
    assert_conforms(ripples)
"""

from collections.abc import Mapping

import torch

from app.engine import CODES, Report, check
from renderers import Renderer


def assert_conforms(
    renderer: Renderer,
    *,
    options: Mapping[str, str] | None = None,
    device: str = "cpu",
    allow: frozenset[str] = frozenset(),
) -> None:
    """Check every parameter of a renderer as `sensmap check` does.

    Args:
        renderer: what `@renderer(...)` made.
        options: options of the operator.
        device: where it is tried.
        allow: codes of findings that are known and accepted.

    Raises:
        AssertionError: a map disagrees with differences, depends on its tiles, is not
            deterministic, or whatever else `sensmap check` warns of; the message says what to do.
        ValueError: `allow` names a code that there is not.
    """
    unknown = allow - set(CODES)
    if unknown:
        raise ValueError(f"There is no finding {sorted(unknown)}. Choices: {', '.join(CODES)}.")
    loaded = renderer.load(device, torch.float32, options)
    params = renderer.spec.bind({})
    reports = [check(loaded, params, name) for name in renderer.spec.params]
    faults = [fault for report in reports for fault in _faults(report, allow)]
    if faults:
        raise AssertionError("\n".join(faults))


def _faults(report: Report, allow: frozenset[str]) -> list[str]:
    if report.error:
        return [f"{report.wrt}: {report.error}"]
    return [
        f"{report.wrt}: {finding.code}: {finding.message}"
        for finding in report.harmful
        if finding.code not in allow
    ]
