"""The server of names says nothing while students ask and a site is crawled: pages are quoted soon, and the crawl says
what was missing."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.llm import FakeLLM
from tests.faults.cluster import FACT, Cluster, cluster
from tests.faults.names import Resolver
from tests.faults.test_certificate import strategies
from tests.faults.test_faults import CRAWL
from tests.knowledge.site import serving, small
from tests.runtime.processes import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.skipif(
        sys.platform == "linux" and os.geteuid() != 0, reason="only root may replace the server of names"
    ),
]
#: What was found of each address of a source's crawls, and how those ended.
SAID = """
SELECT array_agg(DISTINCT r.state), array_agg(r.message::text), array_agg(o.reason::text)
FROM knowledge_crawlrun r JOIN knowledge_source s ON s.id = r.source_id
LEFT JOIN knowledge_crawloutcome o ON o.run_id = r.id
WHERE s.name = %s
"""


class NamedLLM(FakeLLM):
    """Is known by its name."""

    def reset(self) -> None:
        super().reset()
        self.base_url = self.base_url.replace("127.0.0.1", "model.uni.example")


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[tuple[Cluster, Resolver]]:
    resolver = Resolver()
    try:
        with cluster(llm=NamedLLM(), within=resolver.room(tmp_path)) as started:
            yield started, resolver
    finally:
        resolver.close()


def test_without_names_pages_are_quoted_soon_and_a_crawl_says_what_was_missing(
    stack: tuple[Cluster, Resolver],
) -> None:
    here, resolver = stack

    def asked_since(moment: float) -> list[str]:
        return [one.conversation for one in going.answered if one.asked > moment]

    with serving(small) as site, here.busy() as going:
        assert "generated" in strategies(here, asked_since(0))
        assert "model.uni.example" in resolver.asked
        resolver.is_silent = True
        # A connection that is open needs no name: the model ends those that it has.
        here.llm.breaks(20)
        gone = time.monotonic()
        here.run.does(CRAWL.format(url=site.url("/").replace("127.0.0.1", "site.uni.example"), name="Named"))
        wait_until(lambda: "extractive" in strategies(here, asked_since(gone)), 60)
        without = time.monotonic()
        slowest_probe = 0.0
        while time.monotonic() < without + 40:  # many times as long as one look-up
            began = time.monotonic()
            assert here.run.get("/health/live") == 200
            slowest_probe = max(slowest_probe, time.monotonic() - began)
            time.sleep(0.2)
        assert "generated" not in strategies(here, asked_since(without))
        wait_until(lambda: not {"queued", "running"} & set(here.row(SAID, "Named")[0]), 180)
        crawled = time.monotonic() - gone
        assert "nobody knows the name {host}" in str(here.row(SAID, "Named"))
        resolver.is_silent = False
        here.llm.says(FACT)
        began = time.monotonic()
        wait_until(lambda: "generated" in strategies(here, asked_since(began)), 120)
        back = time.monotonic() - began
    meanwhile = [one.ended - one.asked for one in going.answered if gone < one.asked < began]
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    print(
        f"\nno names: {len(meanwhile)} answers meanwhile, slowest {max(meanwhile):.1f} s, median "
        f"{sorted(meanwhile)[len(meanwhile) // 2]:.1f} s; slowest probe {slowest_probe:.1f} s; crawl ended after "
        f"{crawled:.1f} s; the model writes again after {back:.1f} s"
    )
