"""Whether a process that wrote an answer lives, told by its name."""

import os
import subprocess
import sys

import pytest

from chat.streaming import holder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_a_process_has_ended_once_it_was_killed_also_before_its_parent_knows() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        name = holder.name_process(process.pid)
        assert not holder.has_ended(name)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert holder.has_ended(name)
    assert holder.has_ended(name)


def test_another_process_with_its_number_is_not_it() -> None:
    machine, pid, started = holder.name_process(os.getpid()).split()
    assert holder.has_ended(f"{machine} {pid} {int(started) - 1}")


@pytest.mark.parametrize("name", ["another-start/pid:[1] 7 7", "somewhere", "1", ""])
def test_of_a_process_elsewhere_nothing_is_known(name: str) -> None:
    assert not holder.has_ended(name)
