"""Write the parts of README.md that are made from the code: `python -m docs.generate`."""

import re
from pathlib import Path

from app.engine import CODES
from app.settings import Settings

README = Path(__file__).parents[1] / "README.md"


def settings_table() -> str:
    """Every setting with its default and what it is."""
    lines = ["| variable | default | what it is |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = f"`{field.default}`" if field.default not in ((), {}, "") else ""
        lines.append(f"| `SENSMAP_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(lines)


def warnings_table() -> str:
    """Every warning with what it means and what to do."""
    lines = ["| code | what it means, and what to do |", "|---|---|"]
    lines += [f"| `{code}` | {message} |" for code, message in CODES.items()]
    return "\n".join(lines)


PARTS = {"settings": settings_table, "warnings": warnings_table}


def generated(text: str) -> str:
    """The text with every generated part as the code has it now."""
    for name, make in PARTS.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        part = f"{begin}\n{make()}\n{end}"
        text, found = pattern.subn(lambda _, part=part: part, text)
        if found != 1:
            raise ValueError(f"README.md must have one part {name!r}; it has {found}.")
    return text


if __name__ == "__main__":
    README.write_text(generated(README.read_text()))
