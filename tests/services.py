"""Pytest plugin (`-p tests.services`): a PostgreSQL and a Valkey of the session's own, before settings are read.

TEST_DATABASE_URL and TEST_REDIS_URL name others to use. DATABASE_URL and REDIS_URL, which may hold somebody's real
data, are never used.
"""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from marcelcms.embedded.processes import ServiceError
from marcelcms.embedded.services import PARTS, provide


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Wrap the hook, because it must be earlier than pytest-django, which reads the settings in the same hook."""
    stack = ExitStack()
    early_config.add_cleanup(stack.close)
    # Short, and open to the user that PostgreSQL runs as when the tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-tests-"))
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)
    for part in PARTS:
        os.environ.pop(part.variable, None)
        if given := os.environ.get(f"TEST_{part.variable}"):
            os.environ[part.variable] = given
    for name in [name for name in os.environ if name.startswith("LLM_") and not name.startswith("LLM_TEST_")]:
        del os.environ[name]
    for name in ("DATABASE_REPLICA_URL", "DATABASE_REPLICA_URL_FILE", "REPLICA_PGBOUNCER"):
        os.environ.pop(name, None)
    for name in ("EMAIL_URL", "EMAIL_URL_FILE", "DEFAULT_FROM_EMAIL", "MAIL_LANGUAGE", "CASE_MAIL_ADDRESS", "IMAP_URL"):
        os.environ.pop(name, None)
    os.environ["SECRET_KEY"] = "only for tests"
    # The fast one; tests/core/inference/embeddings/test_e5.py has the others.
    os.environ["EMBEDDING_MODEL"] = "all-MiniLM-L6-v2"
    os.environ["STATE_DIR"] = str(folder)
    # Most tests end in a rollback, which a shared index could not follow; test_shared_index.py has a shared one.
    os.environ["LEXICAL_INDEX_FOLDER"] = ""
    if early_config.known_args_namespace.numprocesses and "PYTEST_XDIST_WORKER" not in os.environ:
        # It only hands out tests to workers, which have servers of their own; settings need names all the same.
        os.environ["DATABASE_URL"], os.environ["REDIS_URL"] = "postgresql://127.0.0.1:1/none", "redis://127.0.0.1:1/0"
        yield
        return
    try:
        stack.enter_context(provide(folder, durable=False))
    except ServiceError as error:
        raise pytest.UsageError(str(error)) from error
    yield
