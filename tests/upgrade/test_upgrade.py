"""A database of an earlier version is migrated without loss, and the product works on it."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pytest_django import DjangoDbBlocker

from knowledge.retrieval.live_index import forget_indexes
from tests.upgrade.make import DUMPS

#: The fixture's database is committed; what a test adds to it is rolled back.
pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]

OURS = ("knowledge", "faqs", "chat", "analytics", "marcelcms")
#: What a migration of a later version changes or removes on purpose, as `table` or `table.column`.
#: `migrate` always writes the built-in profiles' legs anew, and their threshold. Nobody needs who had a page open.
#: The content type of a model that is renamed is renamed with it. What was read of a page stands with its document.
CHANGED = frozenset(
    {
        *("chat_profileleg.id", "chat_profileleg.weight", "chat_retrievalprofile.threshold"),
        "knowledge_sourcepage.content_hash",
        *("analytics_reviewreader", "django_content_type.model"),
    }
)
RENAMED = {"analytics_reviewcomment": "analytics_comment"}
COLUMNS = """
SELECT table_name, column_name, data_type, udt_name, character_maximum_length, is_nullable, column_default, is_identity
FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
"""
CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
"""
#: An index of vectors is made for each generation, by the work and not by a migration.
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND indexname !~ '_hnsw_'"
TRIGGERS = """
SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
"""
#: PostgreSQL writes the same condition with other casts and parentheses after a dump.
SPELLING = re.compile(r"::[a-z ]+(?:\[\])?|[()\s]")

Rows = dict[str, list[dict[str, Any]]]


def address(name: str) -> str:
    entry = connection.settings_dict
    return make_conninfo(
        host=entry["HOST"], port=entry["PORT"], dbname=name, user=entry["USER"], password=entry["PASSWORD"]
    )


def schema_of(name: str) -> dict[str, set[tuple[Any, ...]]]:
    """Columns, constraints, indexes and triggers; without the copies that the tests keep (`tests.emptying`)."""
    queries = {"columns": COLUMNS, "constraints": CONSTRAINTS, "indexes": INDEXES, "triggers": TRIGGERS}
    with psycopg.connect(address(name)) as database:
        return {
            what: {
                (*row[:-1], SPELLING.sub("", str(row[-1])))
                for row in database.execute(query)
                if not row[0].startswith("built_in_")
            }
            for what, query in queries.items()
        }


def read_rows(name: str) -> Rows:
    """All rows of all tables."""
    with psycopg.connect(address(name)) as database:
        tables = [row[0] for row in database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        read = sql.SQL("SELECT to_jsonb(each) FROM {} AS each")
        return {
            table: [row for (row,) in database.execute(read.format(sql.Identifier(table)))] for table in sorted(tables)
        }


@dataclass(frozen=True)
class Upgrade:
    """A database of an earlier version that this version has migrated, and its rows before and after."""

    name: str
    new: str  # the name of a database that this version made
    before: Rows
    after: Rows


@pytest.fixture(
    scope="module", params=sorted(DUMPS.glob("*.sql.gz")), ids=lambda path: path.name.removesuffix(".sql.gz")
)
def upgrade(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Upgrade]:
    """Restore, migrate and reindex; Django works on that database until the module's tests are done."""
    entry = connection.settings_dict
    new, kept = entry["NAME"], entry["CONN_MAX_AGE"]
    name = f"{new}_upgraded"
    with psycopg.connect(address("postgres"), autocommit=True) as server, ExitStack() as stack:
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        stack.callback(server.execute, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        with psycopg.connect(address(name)) as database:
            database.execute(gzip.decompress(request.param.read_bytes()))
        before = read_rows(name)
        stack.enter_context(django_db_blocker.unblock())
        stack.callback(_work_on, new, kept)
        # A thread of a command's loop would leave its connection behind.
        _work_on(name, 0)
        call_command("migrate", verbosity=0)
        after = read_rows(name)
        call_command("reindex", stdout=StringIO())
        call_command("verify_index", stdout=StringIO())  # not in a test's transaction: it begins one of its own
        yield Upgrade(name, new, before, after)


def _work_on(name: str, seconds: int) -> None:
    """Have Django work on this database, and keep its connections for so long."""
    connection.close()
    connection.settings_dict |= {"NAME": name, "CONN_MAX_AGE": seconds}
    ContentType.objects.clear_cache()
    forget_indexes()


def test_the_dump_has_rows_of_every_app(upgrade: Upgrade) -> None:
    for app in OURS:
        assert any(table.startswith(f"{app}_") and found for table, found in upgrade.before.items()), app
    for table in ("auth_user", "chat_message", "chat_feedback", "knowledge_passage", "faqs_faq", "analytics_gap"):
        assert upgrade.before[table], table


def test_no_row_and_no_value_is_lost(upgrade: Upgrade) -> None:
    for table in sorted(upgrade.before.keys() - CHANGED):
        kept = RENAMED.get(table, table)
        assert kept in upgrade.after, f"the table {table} is missing"
        columns = sorted({name for row in upgrade.before[table] for name in row if f"{table}.{name}" not in CHANGED})
        before, after = (
            Counter(json.dumps([row.get(name, "the column is missing") for name in columns]) for row in rows)
            for rows in (upgrade.before[table], upgrade.after[kept])
        )
        assert not (lost := before - after), f"{table} {columns}: {next(iter(lost))[:500]}"


def test_its_tables_are_those_of_a_new_database(upgrade: Upgrade) -> None:
    expected, found = schema_of(upgrade.new), schema_of(upgrade.name)
    for what in expected:
        assert found[what] - expected[what] == set(), what
        assert expected[what] - found[what] == set(), what


def test_no_model_waits_for_a_migration(upgrade: Upgrade) -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    call_command("migrate", check_unapplied=True, verbosity=0)


@pytest.mark.parametrize("app", OURS)
def test_every_list_and_a_row_of_each_open_in_the_admin(upgrade: Upgrade, app: str) -> None:
    client = Client()
    client.force_login(User.objects.get(username="admin"))
    opened = 0
    for model in apps.get_app_config(app).get_models():
        if model not in admin.site._registry:
            continue
        name = f"admin:{app}_{model._meta.model_name}"
        assert client.get(reverse(f"{name}_changelist"), follow=True).status_code == 200, name
        if row := model._default_manager.first():
            assert client.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200, name
            opened += 1
    assert opened


def test_after_reindexing_questions_are_answered_from_it(upgrade: Upgrade) -> None:
    out = StringIO()
    call_command("search", "How much is the semester contribution?", "--json", stdout=out)
    assert any("318.40" in passage["text"] for passage in json.loads(out.getvalue())[:3])
    out = StringIO()
    call_command("ask", "How much is the semester contribution?", "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert "318.40" in said["answer"]
    page = "https://www.uni-lindental.example/en/fees/semester-contribution"
    assert said["citations"][0]["url"].split("#")[0] == page
