"""Times reports as they are written, beside PostgreSQL's own COPY of the same columns, and the memory that takes.

Answers are made by one INSERT a table, a year of them. Each file is written by a process of its own, whose peak memory
is read when it ends; the growth between a tenth of the answers and all of them says whether it depends on their number.
"""

import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from benchmarks.environment import ROOT
from benchmarks.measuring import say, table

ANSWERS, QUICK = 1_000_000, 20_000
KINDS = ("csv", "csv, masked", "jsonl", "xlsx")
COLUMNS = (
    *("asked_at", "assistant", "language", "question", "rewritten", "answer", "sources", "faq", "status", "abstained"),
    *("reason", "thumbs", "reasons", "comment", "verdict", "profile", "prompt", "model", "first_token_ms", "total_ms"),
)
MAKE = """
INSERT INTO chat_visitor (id, consented_at)
    SELECT md5('v' || n)::uuid, now() FROM generate_series(1, {answers} / 4) AS n;
INSERT INTO chat_conversation (id, visitor_id, assistant_id, audience, title, created_at, updated_at)
    SELECT md5('c' || n)::uuid, md5('v' || (n / 2 + 1))::uuid, {assistant}, '{{}}', '', now(), now()
    FROM generate_series(1, {answers} / 2 - 1) AS n;
CREATE TEMPORARY TABLE made AS
    SELECT n, md5('c' || (n % ({answers} / 2 - 1) + 1))::uuid AS conversation,
        now() - interval '300 days' * (1 - n::float8 / {answers}) AS at,
        nextval(pg_get_serial_sequence('chat_message', 'id')) AS question,
        nextval(pg_get_serial_sequence('chat_message', 'id')) AS answer
    FROM generate_series(1, {answers}) AS n;
INSERT INTO chat_message (id, conversation_id, role, text, status, strategy, reason, notice, model, profile, prompt,
        route, rewritten, flags, related, retrieved, language, timings_ms, created_at)
    SELECT question, conversation, 'user', 'How do I register for exam number ' || n || ' in my second semester?',
        'complete', '', '', '', '', '', '', '', '', '{{}}', '[]', '[]', 'en', '{{}}', at FROM made;
INSERT INTO chat_message (id, conversation_id, role, question_id, text, status, strategy, reason, notice, model,
        profile, prompt, route, rewritten, flags, related, retrieved, language, timings_ms, created_at)
    SELECT answer, conversation, 'assistant', question,
        'You register for exam ' || n || ' online, in the campus portal, until two weeks before it takes place [1]. '
        || 'Afterwards the examination office decides whether you may still take part, which it does in writing.',
        CASE WHEN n % 7 = 0 THEN 'abstained' ELSE 'complete' END, 'generated',
        CASE WHEN n % 7 = 0 THEN 'no_evidence' ELSE '' END, '', 'a-model', 'default', 'v3', 'question',
        CASE WHEN n % 3 = 0 THEN 'How does one register for exam number ' || n || '?' ELSE '' END,
        '{{}}', '[]', '[]', 'en', jsonb_build_object('first_token', 120 + n % 400, 'total', 900 + n % 3000), at
    FROM made;
INSERT INTO chat_citation (message_id, n, title, url, heading, quote, links)
    SELECT answer, 1, 'Exams', 'https://www.uni.example/exams', 'Registration', 'You register online.', '[]'
    FROM made WHERE n % 7 <> 0;
INSERT INTO chat_feedback (message_id, value, reasons, comment, updated_at)
    SELECT answer, CASE WHEN n % 3 = 0 THEN -1 ELSE 1 END, '{{}}',
        CASE WHEN n % 30 = 0 THEN 'This was of last year.' ELSE '' END, at
    FROM made WHERE n % 10 = 0;
DROP TABLE made;
ANALYZE;
"""


def measure(folder: Path, *, quick: bool) -> dict[str, Any]:
    from chat.models import Assistant

    answers = QUICK if quick else ANSWERS
    assistant = Assistant.objects.create(slug="bench", name="Bench", institution="a university")
    with connection.cursor() as cursor:
        cursor.execute(MAKE.format(answers=answers, assistant=assistant.pk))
    copied = [copy_seconds(folder / "copy.csv", answers) for _ in range(2)]
    result: dict[str, Any] = {"answers": answers, "copy_rows_a_second": round(answers / min(copied))}
    for kind in KINDS:
        few, many = (written(folder, kind, days) for days in (30, 365))
        say(f"{kind}: {many['rows_a_second']:,} rows/s")  # the others take minutes
        result[kind] = {**many, "growth_mib": round(many["peak_mib"] - few["peak_mib"], 1), "few": few}
    say(f"\n{answers:,} answers, {len(COLUMNS)} columns\n")
    rows = [["COPY to CSV", f"{result['copy_rows_a_second']:,}", "", "", ""]]
    for kind in KINDS:
        one = result[kind]
        rows.append([kind, f"{one['rows_a_second']:,}", f"{one['mb']:,}", f"{one['peak_mib']}", f"{one['growth_mib']}"])
    table(["file", "rows/s", "MB", "peak memory, MiB", "growth from a tenth, MiB"], rows)
    return result


def copy_seconds(path: Path, answers: int) -> float:
    """PostgreSQL's own CSV of the same columns, in the same order, through the same driver into a file."""
    from analytics.reports.columns import COLUMNS as READ
    from analytics.reports.queries import chosen

    wanted = definition(365)
    named = {f"report_{key}": READ[key].read() for key in COLUMNS}
    found = chosen(wanted, wanted.period(), everything()).order_by("created_at", "pk").annotate(**named)
    sql, parameters = found.values_list(*named).query.sql_with_params()
    began = time.perf_counter()
    copying = f"COPY ({sql}) TO STDOUT (FORMAT csv, HEADER)"
    with connection.cursor() as cursor, path.open("wb") as file, cursor.copy(copying, parameters) as copy:
        for chunk in copy:
            file.write(chunk)
    return time.perf_counter() - began


def written(folder: Path, kind: str, days: int) -> dict[str, Any]:
    """By a process of its own."""
    command = [sys.executable, "-m", "benchmarks.exports", str(folder), kind, str(days)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ.copy(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def definition(days: int, kind: str = "csv") -> Any:
    from analytics.reports.definition import Definition, Format, Span

    last = timezone.localdate()
    first = last - datetime.timedelta(days=days - 1)
    return Definition(columns=COLUMNS, format=Format(kind), span=Span.FIXED, first=first, last=last)


def everything(*, is_masked: bool = False) -> Any:
    from analytics.reports.permissions import Rights

    return Rights(not is_masked, 5 if is_masked else 1, is_whole=True, assistants=frozenset())


def write_one(folder: Path, kind: str, days: int) -> None:
    from analytics.reports.content import make_file

    name, _comma, is_masked = kind.partition(", ")
    wanted = definition(days, name)
    path = folder / f"report.{name}"
    began = time.perf_counter()
    extent = make_file(path, wanted, wanted.period(), everything(is_masked=bool(is_masked)), lambda _done, _total: None)
    seconds = time.perf_counter() - began
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    said = {"rows": extent.rows, "seconds": round(seconds, 1), "rows_a_second": round(extent.rows / seconds)}
    size = round(path.stat().st_size / 1e6, 1)
    path.unlink()
    print(json.dumps({**said, "mb": size, "peak_mib": round(peak, 1)}))


if __name__ == "__main__":
    import django

    django.setup()
    write_one(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
