"""What a fresh database begins with is what its migrations would make."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg
import pytest
from django.db import connection

from core.inference.embeddings.ensemble import JoinedEmbedder
from core.inference.embeddings.known import passage_key, question_key
from marcelcms.backups.fresh import DUMP, FOR_PSQL, recipe
from marcelcms.backups.pg_tools import program
from marcelcms.management.commands.load_demo import DEMO, VECTORS
from tests.runtime.processes import ROOT

#: Django's own command knows no dump.
EVERY_MIGRATION = """
import django
django.setup()
from django.core.management import call_command
from django.core.management.commands.migrate import Command
call_command(Command(), interactive=False)
"""
FILL = """
import django
django.setup()
from django.db import connection
from marcelcms.backups.fresh import fill_empty_database
print(fill_empty_database(), connection.introspection.table_names())
"""


def test_the_dump_is_of_todays_migrations() -> None:
    head, names, _sql = gzip.decompress(DUMP.read_bytes()).decode().split("\n", 2)
    assert recipe(names.split()) == head, (
        "a migration was changed: `manage.py dump_tables` on a fresh, migrated database"
    )


def test_the_demos_vectors_are_of_todays_model_and_texts() -> None:
    faqs = json.loads((DEMO / "faqs.json").read_text("utf-8"))
    with np.load(VECTORS) as file:
        assert str(file["recipe"]) == JoinedEmbedder.recipe, "run `manage.py demo_vectors` on a database with the demo"
        keys = set(file["keys"].tolist())
    assert {question_key(faq["question"]) for faq in faqs} <= keys
    assert {passage_key(faq["reference_answer"]) for faq in faqs if faq["reference_answer"]} <= keys


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.django_db(transaction=True)
def test_a_fresh_database_is_the_same_as_one_that_was_migrated() -> None:
    made = {"fresh": ["-m", "django", "migrate", "--noinput"], "migrated": ["-c", EVERY_MIGRATION]}
    schemas = {}
    for name, command in made.items():
        with empty_database(name) as url:
            # Neither may have done the other's work; a fresh one has those to apply that are newer than the dump.
            assert (output(url, command).count("Applying") > 100) == (name == "migrated")
            schemas[name] = schema(url)
    assert schemas["fresh"].count("CREATE TABLE") > 100
    assert schemas["fresh"] == schemas["migrated"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_database_that_does_not_take_the_dump_is_left_empty_for_all_migrations() -> None:
    with empty_database("elsewhere") as url:
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("CREATE SCHEMA extensions")
            database.execute("CREATE EXTENSION vector SCHEMA extensions")  # the dump says public.vector
            database.execute(f"ALTER DATABASE {database.info.dbname} SET search_path = public, extensions")
        assert output(url, ["-c", FILL]) == "False []\n"


@contextmanager
def empty_database(name: str) -> Iterator[str]:
    """Make a database beside that of the tests; yield its address."""
    database = f"{connection.settings_dict['NAME']}_{name}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {database}")
    try:
        yield urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database}"))
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {database} WITH (FORCE)")


def output(url: str, command: list[str]) -> str:
    environment = os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "marcelcms.settings"}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def schema(url: str) -> str:
    """Return the schema without casts and parentheses: PostgreSQL spells a condition otherwise once it has read it."""
    command = [program("pg_dump"), "--schema-only", "--no-owner", "--no-privileges", "--no-comments", url]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.sub(r"::(character varying|text)(\[\])?|[()]", "", FOR_PSQL.sub("", dumped))
