import pytest
from pydantic import ValidationError

from app.settings import Settings, parse_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1048576", 1 << 20), ("64MiB", 64 << 20), ("2 GB", 2 * 10**9), ("1gib", 1 << 30), (7, 7)],
)
def test_sizes_are_read_with_their_unit(text: object, expected: int) -> None:
    assert parse_bytes(text) == expected


def test_a_size_with_an_unknown_unit_is_refused_with_the_units() -> None:
    with pytest.raises(ValueError, match="MIB"):
        parse_bytes("3 parsecs")


def test_the_environment_sets_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENSMAP_MEMORY_BUDGET", "64MiB")
    monkeypatch.setenv("SENSMAP_RENDERERS", '["scene.py:disc"]')
    monkeypatch.setenv("SENSMAP_OPTIONS", '{"volume": {"file": "head.npy"}}')
    settings = Settings()
    assert settings.memory_budget == 64 << 20
    assert settings.renderers == ("scene.py:disc",)
    assert settings.options == {"volume": {"file": "head.npy"}}


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "70000"), ("MEMORY_BUDGET", "-1"), ("TIMEOUT_S", "0")]
)
def test_a_setting_out_of_its_bounds_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"SENSMAP_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())
