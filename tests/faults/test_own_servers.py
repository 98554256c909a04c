"""`make run` starts its own PostgreSQL and Valkey again when one is killed, and nothing that was said comes to harm."""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.llm import FakeLLM
from tests.faults.cluster import Cluster
from tests.runtime.processes import leading

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


@dataclass
class Own:
    """A server that `make run` starts by itself, known by its address once it has."""

    url: str = ""


@pytest.fixture(scope="module")
def stack() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-own-"))
    folder.chmod(0o711)
    with ExitStack() as parts:
        parts.callback(shutil.rmtree, folder, ignore_errors=True)
        llm = FakeLLM()
        parts.callback(llm.close)
        postgres, valkey = Own(), Own()
        started = Cluster(folder, postgres, valkey, llm)  # type: ignore[arg-type]
        parts.callback(started.run.end)
        announced = json.loads((folder / "services.json").read_text())
        postgres.url, valkey.url = announced["postgres"]["url"], announced["valkey"]["url"]
        started.prepare()
        yield started


@pytest.mark.parametrize("name", ["postgres", "valkey-server"])
def test_a_killed_server_comes_back_and_nothing_is_lost_or_doubled(stack: Cluster, name: str) -> None:
    with stack.busy() as going:
        first = leading(name, stack.run.process.pid)
        os.kill(first, signal.SIGKILL)
        began = time.monotonic()
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    assert leading(name, stack.run.process.pid) not in (0, first)
    print(f"\n{name} killed: answers and edits {back:.1f} s, index {equal:.1f} s")
