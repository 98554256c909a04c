"""The source tree: no circle of imports, no crowded folder, no contract of many layers, tests beside what they test."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.runtime.processes import ROOT

APPS = ("core", "knowledge", "faqs", "chat", "analytics", "marcelcms")
MOST_MODULES, MOST_LAYERS = 12, 9
WIDGET = ROOT / "chat" / "widget" / "src"

Graph = Mapping[str, set[str]]


def paths_of(app: str) -> Iterator[Path]:
    for path in (ROOT / app).rglob("*.py"):
        if not {"migrations", "node_modules"} & set(path.relative_to(ROOT).parts):
            yield path


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(source: str) -> Iterator[str]:
    """Return what a module imports, within functions and for the type checker too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def graph_of(sources: Mapping[str, str]) -> Graph:
    """Return the imports of each module, by names."""

    def module(name: str) -> str:
        while name and name not in sources:
            name = name.rpartition(".")[0]
        return name

    return {name: {module(each) for each in imported(source)} - {"", name} for name, source in sources.items()}


def widget_graph() -> Graph:
    edges = {}
    for path in WIDGET.rglob("*.ts"):
        named = re.findall(r"""\bfrom\s+["'](\.[^"']+\.ts)["']""", path.read_text("utf-8"))
        edges[str(path)] = {str((path.parent / each).resolve()) for each in named}
    return edges


def circle_in(graph: Graph) -> Iterable[str]:
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_a_circle_is_found() -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import A"
    assert circle_in(graph_of({"a": "def late():\n    import b", "b": for_types}))
    assert not circle_in(graph_of({"a": "from b import c", "b": "import json", "b.c": "from b import d"}))


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = graph_of({name_of(path): path.read_text("utf-8") for app in APPS for path in paths_of(app)})
    assert len(graph) > 300
    assert circle_in(graph) == []


def test_no_modules_of_the_widget_import_each_other_in_a_circle() -> None:
    graph = widget_graph()
    assert sum(map(len, graph.values())) > 100
    assert circle_in(graph) == []


@pytest.mark.parametrize("app", APPS)
def test_a_folder_shows_few_modules(app: str) -> None:
    shown = Counter(path.parent.relative_to(ROOT) for path in paths_of(app) if path.name != "__init__.py")
    assert {str(folder): count for folder, count in shown.items() if count > MOST_MODULES} == {}


def test_the_import_contracts_have_few_layers_and_count_every_import() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    assert not linter.get("exclude_type_checking_imports")
    of_apps = {each["containers"][0]: each for each in linter["contracts"] if "containers" in each}
    assert set(of_apps) == set(APPS)
    assert all(contract["exhaustive"] and len(contract["layers"]) <= MOST_LAYERS for contract in of_apps.values())


@pytest.mark.parametrize("app", APPS)
def test_tests_stand_in_the_folder_of_what_they_test(app: str) -> None:
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests" / app).rglob("test_*.py")}
    assert [str(folder) for folder in folders if not (ROOT / folder).is_dir()] == []
