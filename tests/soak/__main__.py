"""Mixed traffic on the whole stack for a while: `python -m tests.soak [--seconds 600 | --hours 8] [--json FILE]`.

Students ask and lose their connections, staff edit, a site is crawled again and again, reports are made. Fails where
memory or connections grow, a log tells of an error, or anything stored is lost, doubled, or missing from the index.
"""

import argparse
import json
import re
import statistics
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from redis import Redis

from tests.faults.cluster import FACT, Cluster, cluster
from tests.faults.traffic import Traffic, traffic
from tests.knowledge.site import Site, serving, small
from tests.load.__main__ import memory_of
from tests.runtime.processes import descendants

SAMPLE_SECONDS = 5.0
CRAWL_SECONDS, EXPORT_SECONDS = 20.0, 5.0
STUDENTS, DROP_EVERY = 8, 3
#: How much the last quarter of the samples may lie above the second one; the first warms caches up. Connections come
#: and go with the students' own: each may have one that the server has not yet given up.
GROWTH, CONNECTIONS = 0.10, STUDENTS
ERROR = re.compile(r"\b(ERROR|CRITICAL)\b|^Traceback")
WORKERS = ("worker", "long-worker", "crawl-worker")
PARTS = ("web", *WORKERS, "beat")
#: A source of a site, and a report; prints their ids.
PREPARE = """
from django.contrib.auth import get_user_model
from analytics.models import Report
from analytics.reports.services import save_report
from analytics.reports.columns import USUAL
from analytics.reports.definition import Definition, Format
from knowledge.services.crawls import save_source
from knowledge.models import Collection, Source
collection = Collection.objects.create(slug="crawled", name="Crawled")
source = save_source(source=Source(name="Site", collection=collection, start_urls=[{url!r}], delay_s=0,
                                   allow_private=True))
report = Report(name="All", owner=get_user_model().objects.get(username="admin"))
save_report(report=report, definition=Definition(columns=tuple(USUAL), format=Format.CSV), rhythm="")
print(source.pk, report.pk)
"""
CRAWL = """
from knowledge.services.crawls import start_crawl
from knowledge.models import Source
start_crawl(source=Source.objects.get(pk={source}))
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """`memory` of each part with its processes in KiB, `files` that the web process has open, connections."""

    at: float
    memory: dict[str, int]
    files: int
    postgres: int
    valkey: int


@dataclass(frozen=True, slots=True)
class Soaked:
    seconds: float
    questions: int
    reconnects: int
    edits: int
    crawls: int
    exports: int
    samples: list[Sample]
    faults: list[str]


class Repeated(threading.Thread):
    """Does something again and again; `done` counts, `troubles` are what it raised."""

    def __init__(self, pause: float) -> None:
        super().__init__(daemon=True)
        self.pause, self.done = pause, 0
        self.troubles: list[str] = []
        self.ending = threading.Event()

    def run(self) -> None:
        while not self.ending.is_set():
            try:
                self.do()
                self.done += 1
            except (OSError, AssertionError) as error:
                self.troubles.append(f"{type(self).__name__}: {type(error).__name__} {error}")
            self.ending.wait(self.pause)

    def do(self) -> None:
        raise NotImplementedError


class Crawling(Repeated):
    """Has the site crawled by a worker; one page is another one each time."""

    def __init__(self, stack: Cluster, site: Site, source: int) -> None:
        super().__init__(CRAWL_SECONDS)
        self.stack, self.site, self.source = stack, site, source

    def do(self) -> None:
        self.stack.run.does(CRAWL.format(source=self.source))


class Exporting(Repeated):
    """Has a report made by a worker, waits for its file and reads it."""

    def __init__(self, stack: Cluster, going: Traffic, report: int) -> None:
        super().__init__(EXPORT_SECONDS)
        self.call, self.report = going.editor.call, report

    def do(self) -> None:
        made = self.call("POST", "report-exports/", {"report": self.report})
        deadline = time.monotonic() + 60
        while made["state"] in {"queued", "running"}:
            assert time.monotonic() < deadline, made
            time.sleep(0.5)
            made = self.call("GET", f"report-exports/{made['id']}/")
        assert made["state"] == "finished", made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Mixed traffic for a while.")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=float, default=600)
    length.add_argument("--hours", type=float)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    with cluster() as stack, serving(small) as site:
        soaked = soak(stack, site, given.hours * 3600 if given.hours else given.seconds)
    if given.json:
        given.json.write_text(json.dumps(asdict(soaked), indent=1) + "\n")
    print(report(soaked))
    if soaked.faults:
        sys.exit("\n".join(soaked.faults))


def soak(stack: Cluster, site: Site, seconds: float) -> Soaked:
    source, saved_report = map(int, stack.run.does(PREPARE.format(url=site.url("/"))).split())
    stack.llm.says_words(" ".join([FACT] * 3), between=0.05)
    began, samples = time.monotonic(), []
    with traffic(stack.server, stack.token, stack.document, students=STUDENTS, drops=DROP_EVERY) as going:
        going.goes_on(after=began)  # a report needs an answer
        beside = [Crawling(stack, site, source), Exporting(stack, going, saved_report)]
        for thread in beside:
            thread.start()
        while time.monotonic() < began + seconds:
            time.sleep(SAMPLE_SECONDS)
            samples.append(sample(stack, began))
        for thread in beside:
            thread.ending.set()
        for thread in beside:
            thread.join(120)
    lasted = time.monotonic() - began
    stack.has_all(going.answered)
    stack.index_equals(since=time.monotonic())
    (crawls,) = stack.row("SELECT count(*) FROM knowledge_crawlrun WHERE state = 'finished'")
    faults = [trouble for thread in beside for trouble in thread.troubles]
    faults += going.editor.troubles
    faults += [f"an answer ended as {one.status}" for one in going.answered if one.status != "complete"]
    faults += [f"a question was refused: {code}" for code in going.refusals()]
    faults += [*errors(stack.run.state / "log"), *grown(samples)]
    return Soaked(
        seconds=round(lasted, 1),
        questions=len(going.answered),
        reconnects=sum(student.lost_connections for student in going.students),
        edits=len(going.editor.times),
        crawls=crawls,
        exports=beside[1].done,
        samples=samples,
        faults=faults,
    )


def sample(stack: Cluster, began: float) -> Sample:
    web = stack.run.web()
    (connections,) = stack.row("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'marcelcms %%'")
    with Redis.from_url(stack.valkey.url) as valkey:
        clients = len(valkey.client_list())
    return Sample(
        at=round(time.monotonic() - began, 1),
        memory={name: with_children(stack.worker(name)) for name in PARTS},
        files=len(list(Path(f"/proc/{web}/fd").iterdir())),
        postgres=connections,
        valkey=clients,
    )


def with_children(pid: int) -> int:
    """KiB; a child may have ended meanwhile."""
    total = 0
    for one in {pid, *descendants(pid)}:
        try:
            total += memory_of(one)
        except (OSError, IndexError):
            continue
    return total


def grown(samples: list[Sample]) -> list[str]:
    """Return what grew from the second quarter of the time to the last: memory by the median, connections by the
    fewest."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    if not quarter:
        return []
    faults = []
    for part in PARTS:
        before, after = (statistics.median(one.memory[part] for one in some) for some in (early, late))
        if after > before * (1 + GROWTH):
            faults.append(f"the memory of {part} grew from {before / 1024:.0f} to {after / 1024:.0f} MiB")
    for name in ("files", "postgres", "valkey"):
        before, after = (min(getattr(one, name) for one in some) for some in (early, late))
        if after > before + CONNECTIONS:
            faults.append(f"{name}: {before} connections became {after}")
    return faults


def errors(folder: Path) -> list[str]:
    """Lines of logs that tell of errors."""
    return [
        f"{log.name}: {line[:300]}"
        for log in sorted(folder.glob("*.log"))
        if "postgres" not in log.name
        for line in log.read_text(errors="replace").splitlines()
        if ERROR.search(line)
    ]


def report(soaked: Soaked) -> str:
    counts = ("questions", "reconnects", "edits", "crawls", "exports")
    lines = [f"{soaked.seconds:.0f} s: " + ", ".join(f"{getattr(soaked, name)} {name}" for name in counts)]
    for one in soaked.samples[:: max(1, len(soaked.samples) // 12)]:
        memory = "  ".join(f"{name} {kib / 1024:.0f}" for name, kib in one.memory.items())
        lines.append(f"{one.at:7.0f} s  MiB: {memory}  files {one.files}  postgres {one.postgres}  valkey {one.valkey}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
