"""What a machine does to the service while students ask and staff edit: its disk is full, the network between it and
the database is cut. Nothing stored is lost or doubled, and the service is back by itself."""

import os
import re
import subprocess
import sys
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.cluster import Cluster, Postgres, cluster
from tests.faults.traffic import QUESTION, Traffic

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk or cut a network")


class SmallDisk(Postgres):
    """Has its data on a disk of its own, which a test fills."""

    def __init__(self, folder: Path) -> None:
        place = folder / "postgres"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g", "none", place], check=True)
        place.chmod(0o711)
        self.place = place
        super().__init__(folder)

    @contextmanager
    def full(self) -> Iterator[None]:
        filler = self.place / "filler"
        with filler.open("wb") as file:
            try:
                while True:
                    file.write(bytes(2**16))
                    file.flush()
            except OSError:
                pass
        try:
            yield
        finally:
            filler.unlink()

    def stop(self, signum: int = 2) -> None:
        super().stop(signum)
        subprocess.run(["umount", "--lazy", self.place], check=True)


class FarAway(Postgres):
    """Has a network of its own, and a cable that a test pulls."""

    HERE, THERE, NETWORK, SPACE = "10.231.7.1", "10.231.7.2", "10.231.7.0/24", "marcelcms-far"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        super().stop()
        for command in (
            f"ip netns add {self.SPACE}",
            "ip link add marcel-here type veth peer name marcel-there",
            f"ip link set marcel-there netns {self.SPACE}",
            f"ip address add {self.HERE}/24 dev marcel-here",
            "ip link set marcel-here up",
            f"ip -n {self.SPACE} address add {self.THERE}/24 dev marcel-there",
            f"ip -n {self.SPACE} link set marcel-there up",
        ):
            subprocess.run(command.split(), check=True)
        given = list(map(str, self.command))
        with Path(given[given.index("-D") + 1], "pg_hba.conf").open("a") as file:
            file.write(f"host all all {self.NETWORK} scram-sha-256\n")
        self.command = ["ip", "netns", "exec", self.SPACE, *given, "-c", f"listen_addresses={self.THERE}"]
        self.url = re.sub(r"@127\.0\.0\.1:", f"@{self.THERE}:", self.url)
        self.start()

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Lose what is sent, without a word to either side."""
        subprocess.run(["ip", "link", "set", "marcel-here", "down"], check=True)
        try:
            yield
        finally:
            subprocess.run(["ip", "link", "set", "marcel-here", "up"], check=True)

    def stop(self, signum: int = 2) -> None:
        super().stop(signum)
        subprocess.run(["ip", "link", "delete", "marcel-here"], check=True)
        subprocess.run(["ip", "netns", "delete", self.SPACE], check=True)


def settled(stack: Cluster, going: Traffic, began: float, said: str) -> None:
    back = going.goes_on(after=began)
    equal = stack.index_equals_after_last_edit(going, began)
    print(f"\n{said}: answers and edits {back:.1f} s, index {equal:.1f} s")


@needs_root
def test_a_full_disk_of_the_database_costs_nothing_that_was_said() -> None:
    with cluster(database_class=SmallDisk) as stack, stack.busy() as going:
        assert isinstance(stack.postgres, SmallDisk)
        with stack.postgres.full():
            time.sleep(15)
        # A server that stopped because it could not write its log is started by who watches it.
        if stack.postgres.process.poll() is not None or not stack.postgres.answers():
            stack.postgres.process.wait(60)
            stack.postgres.start()
        settled(stack, going, time.monotonic(), "disk full")


@needs_root
@pytest.mark.parametrize("seconds", [5, 40])
def test_a_cut_network_to_the_database_costs_nothing_that_was_said(seconds: int) -> None:
    with cluster(database_class=FarAway) as stack, stack.busy() as going:
        assert isinstance(stack.postgres, FarAway)
        with stack.postgres.cut_off():
            time.sleep(seconds)
        settled(stack, going, time.monotonic(), f"network cut for {seconds} s")


@needs_root
def test_while_the_network_is_cut_everybody_is_told_soon_and_sockets_stay() -> None:
    with cluster(database_class=FarAway) as stack, stack.busy() as going, stack.server.connect() as tab:
        assert isinstance(stack.postgres, FarAway)
        tab.answer(QUESTION)
        told: dict[str, list[float]] = {"socket": [], "staff": []}
        with stack.postgres.cut_off():
            for _time in range(4):
                began = time.monotonic()
                tab.ask(QUESTION)
                assert tab.until("error")[-1]["code"] == "unavailable"
                told["socket"].append(time.monotonic() - began)
                began = time.monotonic()
                with pytest.raises(urllib.error.HTTPError):
                    going.editor.call("GET", going.editor.path)
                told["staff"].append(time.monotonic() - began)
        began = time.monotonic()
        back = going.goes_on(after=began)
        tab.answer(QUESTION)  # the same socket
    slowest = {who: round(max(seconds), 1) for who, seconds in told.items()}
    print(f"\nnetwork cut: told after at most {slowest} s; answers and edits {back:.1f} s")
