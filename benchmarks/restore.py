"""Measures how long a backup and its restore take, by size; the objective in the guide to backups comes from it.

Synthetic pages in the real tables (`benchmarks.loading`), no media files. After it every table has as many rows as
before, and a question finds the same pages.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections

from benchmarks.loading import Loader
from benchmarks.measuring import say, table
from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.retrieval.profiles import get_profile, retrieve_with
from knowledge.models import Passage
from knowledge.retrieval.scope import build_scope
from marcelcms.backups.backup import make_backup
from marcelcms.backups.restore import restore_backup

SIZES, QUICK_SIZES = [622, 6_225, 25_000], [62]
TABLES = ("knowledge", "faqs", "chat", "analytics")


def measure(folder: Path, *, sizes: Sequence[int]) -> list[dict[str, Any]]:
    files = folder / "restored"
    files.mkdir()
    loader = Loader(files, embedded=60)
    results = []
    for size in sizes:
        say(f"loading {size:,} documents ...")
        loader.grow(size)
        results.append(measure_size(files, loader))
    table(
        ["passages", "database, MB", "backup, s", "file, MB", "restore, s", "first question after it, s"],
        [
            [
                f"{each['passages']:,}",
                each["database_mb"],
                each["backup_s"],
                each["file_mb"],
                each["restore_s"],
                each["first_s"],
            ]
            for each in results
        ],
    )
    return results


def measure_size(folder: Path, loader: Loader) -> dict[str, Any]:
    question = loader.corpus.questions(1, pages=loader.size)[0]
    passages, rows, found = Passage.objects.count(), count_rows(), find(question)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (size,) = cursor.fetchone()
    began = time.perf_counter()
    file = make_backup(folder)
    backed_up = time.perf_counter()
    connections.close_all()
    restore_backup(file, replace=True)
    call_command("migrate", interactive=False, verbosity=0)
    restored = time.perf_counter()
    assert find(question) == found
    asked = time.perf_counter()
    assert count_rows() == rows
    result = {
        "passages": passages,
        "database_mb": round(size / 1e6),
        "backup_s": round(backed_up - began, 1),
        "file_mb": round(file.stat().st_size / 1e6),
        "restore_s": round(restored - backed_up, 1),
        "first_s": round(asked - restored, 1),
    }
    file.unlink()
    return result


def count_rows() -> dict[str, int]:
    models = [model for name in TABLES for model in apps.get_app_config(name).get_models() if model._meta.managed]
    return {model._meta.label: model._default_manager.count() for model in models}


def find(question: str) -> list[str]:
    profile = get_profile("default")
    retrieval = retrieve_with(profile, question, scope=build_scope(), k=profile.sources)
    return [candidate.url for candidate in load_candidates(retrieval.hits)]
