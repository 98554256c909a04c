"""The page of the settings: every environment variable that the code reads, with its default."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.generate.descriptions import SECTIONS
from docs.generate.tables import code, table

ROOT = Path(__file__).resolve().parents[2]
READS = (ROOT / "marcelcms" / "settings.py", ROOT / "marcelcms" / "env.py")
KINDS = {
    "text": "text",
    "choice": "one of these",
    "boolean": "true or false",
    "integer": "whole number",
    "words": "list, by commas",
    "web_address": "address",
    "issuer": "address",
    "database": "address",
    "replica": "address",
    "mail_server": "address",
    "sender": "address",
    "networks": "networks, by commas",
}
#: What is read before the settings are, by `marcelcms.embedded`.
BY_MAKE_RUN = {"PORT": "8000"}
INTRODUCTION = """# Settings

Everything that differs between machines comes from the environment. Under `make run` every variable has a default. A
wrong value stops the start, and the message names the variable, the value and what would be right.

Each variable `NAME` may be given as `NAME_FILE` instead: the name of a file that holds the value, as secrets are given
to containers. Both at once are refused.

This page is made from `marcelcms/settings.py` and `marcelcms/env.py`.
"""


@dataclass(frozen=True, slots=True)
class Variable:
    """`default` is as the code has it; empty where there is none."""

    name: str
    kind: str
    default: str


def read_variables() -> dict[str, Variable]:
    """All that is read with `marcelcms.env`, by name."""
    found = {name: Variable(name, "whole number", default) for name, default in BY_MAKE_RUN.items()}
    for path in READS:
        for kind, call in _reads(ast.parse(path.read_text("utf-8"))):
            name = ast.literal_eval(call.args[0])
            found[name] = Variable(name, KINDS.get(kind, kind), _default(call))
    return found


def page() -> str:
    """Check the descriptions. Raise ValueError if `descriptions` and the code do not name the same variables."""
    found = read_variables()
    described = [name for section in SECTIONS.values() for name in section]
    if missing := sorted(set(found) - set(described)):
        raise ValueError(f"docs/generate/descriptions.py does not say what these are for: {', '.join(missing)}")
    if gone := sorted(set(described) - set(found)):
        raise ValueError(f"docs/generate/descriptions.py names what the code does not read: {', '.join(gone)}")
    parts = [INTRODUCTION]
    for title, section in SECTIONS.items():
        rows = [[code(name), said, _shown(found[name])] for name, said in section.items()]
        parts += [f"## {title}\n", table(["variable", "what it is", "default"], rows)]
    return "\n".join(parts)


def _shown(variable: Variable) -> str:
    return f"{code(variable.default)} ({variable.kind})" if variable.default else f"none ({variable.kind})"


def _reads(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Return the calls of the functions of `env` that name a variable, each with which of them it calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func
            if isinstance(called, ast.Name) and called.id in KINDS:
                yield called.id, node
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "env":
                yield called.attr, node


def _default(call: ast.Call) -> str:
    given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "default")]
    if not given:
        return ""
    try:
        value = ast.literal_eval(given[0])
    except ValueError:
        return {"str(BASE_DIR / 'var')": "var/"}.get(ast.unparse(given[0]), ast.unparse(given[0]))
    return str(value).lower() if isinstance(value, bool) else str(value)
