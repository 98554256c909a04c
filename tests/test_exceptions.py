"""Every exception of the product passes through a context manager as it was raised."""

import importlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chat.errors import Refused
from chat.pipeline.guardrails.input import clean_question
from tests.runtime.processes import ROOT

APPS = ("knowledge", "faqs", "chat", "analytics", "marcelcms")
#: Programs, which begin to work when they are imported.
PROGRAMS = ("__main__", "_child")


@contextmanager
def passed_on() -> Iterator[None]:
    """Like every generator of contextlib, and `contextlib.ExitStack`: its exit sets `__traceback__`."""
    yield


def exceptions() -> Iterator[type[Exception]]:
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            if "migrations" not in path.parts and path.stem not in PROGRAMS:
                importlib.import_module(
                    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                )
    found, newest = set(), {Exception}
    while newest:
        newest = {child for parent in newest for child in parent.__subclasses__()} - found
        found |= newest
    yield from sorted(
        (each for each in found if each.__module__.partition(".")[0] in APPS), key=lambda each: each.__qualname__
    )


def test_none_is_replaced_on_its_way() -> None:
    seen = list(exceptions())
    assert Refused in seen
    for each in seen:
        with pytest.raises(Exception) as caught, passed_on():
            raise each.__new__(each)
        assert caught.type is each


def test_a_refused_question_keeps_its_code_and_its_sentence() -> None:
    with pytest.raises(Refused) as caught, passed_on():
        clean_question("", limit=10)
    assert caught.value.code == "empty_question"
    assert caught.value.detail
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.code, copy.detail) == (caught.value.code, caught.value.detail)
