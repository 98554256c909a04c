"""A later version comes while students ask and staff edit: the tables are changed, then one web process after the other
is replaced. Nobody sees more of it than a new connection."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.faults.balancer import balancer
from tests.faults.cluster import Cluster, cluster
from tests.runtime.processes import ROOT
from tests.runtime.stack import Web
from tests.servers import Server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
NEXT_VERSION = {"DJANGO_SETTINGS_MODULE": "tests.faults.next_version.settings"}


@pytest.fixture
def webs() -> Iterator[tuple[Cluster, list[Web]]]:
    """Two web processes behind one address, beside everything else."""
    with cluster() as stack, ExitStack() as parts:
        found = []
        for _number in range(2):
            found.append(Web(stack.run))
            parts.callback(found[-1].kill)
        address = parts.enter_context(balancer([web.port for web in found]))
        stack.server = Server(address.port)
        yield stack, found


def migrate(stack: Cluster) -> float:
    """Change the tables as the later version does. Return how long that took."""
    began = time.monotonic()
    command = [sys.executable, "manage.py", "migrate", "--noinput"]
    environment = stack.run.environment | NEXT_VERSION
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def test_an_upgrade_in_turns_costs_students_a_connection_at_most(webs: tuple[Cluster, list[Web]]) -> None:
    stack, (first, second) = webs
    with stack.busy(words=40) as going:
        took = migrate(stack)
        began = time.monotonic()
        going.goes_on(after=began)
        for web in (first, second):
            web.end()
            going.goes_on(after=time.monotonic())  # the other one answers
            web.start(**NEXT_VERSION)
            going.goes_on(after=time.monotonic())
        ended = time.monotonic()
        equal = stack.index_equals_after_last_edit(going, ended)
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    assert stack.row("SELECT count(*) FROM next_version_mark")[0]
    longest = max(later - earlier for earlier, later in zip(going.editor.times, going.editor.times[1:], strict=False))
    lost = sum(student.lost_connections for student in going.students)
    slowest = max(one.ended - one.asked for one in going.answered if one.ended > began)
    print(
        f"\nupgrade in turns: migrated in {took:.1f} s, both replaced in {ended - began:.1f} s; {len(going.answered)} "
        f"answers, slowest {slowest:.1f} s, {lost} connections lost; longest without an edit {longest:.1f} s, "
        f"troubles {going.editor.troubles}; index {equal:.1f} s"
    )
