"""The list of decisions, by the pages that there are."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "decisions"
INTRODUCTION = """# Decisions

Why things are as they are: a short page each, with what was chosen instead of what, and what it costs.
"""


def page() -> str:
    lines = [f"- [{title(path)}]({path.name})" for path in sorted(FOLDER.glob("[0-9]*.md"))]
    return "\n".join([INTRODUCTION, *lines]) + "\n"


def title(path: Path) -> str:
    first = path.read_text("utf-8").splitlines()[0].lstrip("# ")
    return first if first[0].isdigit() else f"{path.name[:4]}: {first}"
