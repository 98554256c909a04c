"""A real PgBouncer with docker/pgbouncer.ini between the product and PostgreSQL, where one is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from knowledge.indexing.generations import drop_indexes, live_generation
from marcelcms.embedded.processes import answers, free_port
from tests.deployment.conftest import ROOT, database_url, environment
from tests.factories import AnswerFactory, DocumentFactory
from tests.servers import wait_until


def installed() -> tuple[int, ...]:
    """Return the version of the PgBouncer that is installed, an empty one for none."""
    if not shutil.which("pgbouncer"):
        return ()
    said = subprocess.run(["pgbouncer", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, said.split()[1].split(".")))


pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not installed(), reason="PgBouncer is not installed"),
    pytest.mark.skipif((0,) < installed() < (1, 21), reason="this PgBouncer keeps no prepared statements"),
]
Variables = dict[str, str]


@contextmanager
def pgbouncer(change: Callable[[str], str] = str) -> Iterator[Variables]:
    """Return what a process that goes through it has in its environment; `change` is made to the file."""
    url, port = urlsplit(database_url()), free_port()
    there = f"* = host={url.hostname} port={url.port} user={url.username} password={url.password or 'none'}"
    text = (ROOT / "docker" / "pgbouncer.ini").read_text()
    text = re.sub(r"^marcelcms = host=\S+ port=\S+ dbname=\S+", there, text, flags=re.MULTILINE)
    text = re.sub(r"^listen_addr = .*", "listen_addr = 127.0.0.1", text, flags=re.MULTILINE)
    text = re.sub(r"^listen_port = .*", f"listen_port = {port}", text, flags=re.MULTILINE)
    text = re.sub(r"^auth_type = .*", "auth_type = any", text, flags=re.MULTILINE)
    text = re.sub(r"^auth_file = .*", "", text, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory(prefix="marcelcms-pgbouncer-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "pgbouncer.ini").write_text(change(text))
        command = ["pgbouncer", *(["-u", "nobody"] if os.getuid() == 0 else []), str(folder / "pgbouncer.ini")]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until(lambda: answers(port) or process.poll() is not None)
            assert process.poll() is None, (folder / "log").read_text()
            address = urlunsplit(url._replace(netloc=f"{url.username}:none@127.0.0.1:{port}"))
            yield {"DATABASE_URL": address, "PGBOUNCER": "true"}
        finally:
            process.terminate()
            process.wait(20)


def manage(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "django", *words]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment(**variables, DJANGO_SETTINGS_MODULE="marcelcms.settings"),
        capture_output=True,
        text=True,
        timeout=120,
    )


def said_of_the_pooler(variables: Variables) -> list[dict[str, Any]]:
    report = json.loads(manage("doctor", "--json", **variables).stdout)
    return [finding for finding in report["findings"] if finding["what"] in {"pooler", "database"}]


def levels(found: list[dict[str, Any]]) -> dict[str, str]:
    return {finding["what"]: finding["level"] for finding in found}


def test_the_file_that_comes_with_it_does_what_the_product_needs() -> None:
    with pgbouncer() as through:
        found = said_of_the_pooler(through)
    assert levels(found) == {"database": "ok", "pooler": "ok"}
    assert "one stands between" in found[-1]["said"]


def test_one_that_begins_sessions_otherwise_is_told_what_to_set() -> None:
    with pgbouncer(lambda text: re.sub(r" connect_query='[^']*'", "", text)) as through:
        (finding,) = [each for each in said_of_the_pooler(through) if each["what"] == "pooler"]
    assert finding["level"] == "warn"
    assert "connect_query='SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 100'" in finding["todo"], (
        finding
    )


def test_one_that_keeps_no_prepared_statements_is_found() -> None:
    off = "max_prepared_statements = 0"
    with pgbouncer(lambda text: re.sub(r"max_prepared_statements = \d+", off, text)) as through:
        (finding,) = [each for each in said_of_the_pooler(through) if each["what"] == "pooler"]
    assert (finding["level"], "max_prepared_statements" in finding["todo"]) == ("fail", True)


def test_one_that_lends_connections_for_a_statement_is_found() -> None:
    with pgbouncer(lambda text: text.replace("pool_mode = transaction", "pool_mode = statement")) as through:
        found = said_of_the_pooler(through)
    assert levels(found)["pooler"] == "fail", found


def test_one_that_the_settings_do_not_know_of_is_found() -> None:
    with pgbouncer(lambda text: text + "\nignore_startup_parameters = options\n") as through:
        found = said_of_the_pooler(through | {"PGBOUNCER": "false"})
    assert any("PGBOUNCER is not set" in finding["said"] for finding in found), found


@pytest.mark.parametrize("words", [("migrate", "--noinput"), ("backup", "{folder}")], ids=["migrate", "backup"])
def test_what_changes_its_session_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    with pgbouncer() as through:
        done = manage(*(word.format(folder=tmp_path) for word in words), **through)
    assert done.returncode == 1
    assert "PGBOUNCER=false" in done.stderr
    assert not list(tmp_path.glob("*.tar"))


#: By how many MiB the peak of memory rises while all passages' texts are read.
READ = """
import django
django.setup()
from pathlib import Path
from core.db.cursors import stream_rows
from knowledge.models import Passage
def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
found = Passage.objects.order_by().values_list("pk", "text")
next(stream_rows(found, size=10))
before = peak()
read = sum(len(text) for _pk, text in stream_rows(found, size=500))
assert read > 60e6, read
print(peak() - before)
"""
#: Passages of 10,000 characters each.
MAKE = """
INSERT INTO knowledge_passage (generation_id, document_id, position, heading_path, text, tokens, input_hash, embedding)
SELECT %s, %s, n, '{}', repeat('semester ', 1120), 0, '', '[1]' FROM generate_series(1, 6000) n
"""


def test_all_texts_are_read_without_holding_them() -> None:
    """60 MB of them."""
    generation = live_generation()
    drop_indexes(generation)
    with connection.cursor() as cursor:
        cursor.execute(MAKE, [generation.pk, DocumentFactory().pk])
    with pgbouncer() as through:
        command = [sys.executable, "-c", READ]
        variables = environment(**through, DJANGO_SETTINGS_MODULE="marcelcms.settings")
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 30


#: Whether a report's rows come by a cursor that PostgreSQL has while they are read.
REPORT = """
import django
django.setup()
from analytics.reports.groups import measure_extent
from analytics.reports.queries import chosen, iterate_rows, snapshot
from analytics.reports.definition import Definition
from analytics.reports.permissions import Rights
definition, rights = Definition(columns=("question",)), Rights(True, 1, True, frozenset())
with snapshot("default") as at:
    answers = chosen(definition, definition.period(), rights)
    extent = measure_extent(definition, definition.period(), rights, ("question",), at)
    for batch in iterate_rows(answers, ("question",), extent, rights, using=at):
        with at.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_cursors WHERE NOT is_holdable")
            print(len(batch), *cursor.fetchone())
"""


def test_a_report_is_read_by_a_cursor_of_its_transaction() -> None:
    AnswerFactory.create_batch(3)
    with pgbouncer() as through:
        command = [sys.executable, "-c", REPORT]
        variables = environment(**through, DJANGO_SETTINGS_MODULE="marcelcms.settings")
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.returncode) == ("3 1", 0), done.stderr
