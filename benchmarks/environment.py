"""A PostgreSQL and a Valkey of the run's own, and child processes that answer one question a line."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
#: One thread each, so that ours and the peer's are compared and not their schedulers.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "EMBEDDING_THREADS"), "1")
THREADS["TOKENIZERS_PARALLELISM"] = "false"
os.environ.update(THREADS)  # before numpy is imported


@contextmanager
def private_services(*, keeps_model: bool = False) -> Iterator[Path]:
    """Django set up on migrated, empty services in a temporary STATE_DIR; nobody's data or settings are used.

    The language model of the environment is asked only if it is kept.
    """
    from marcelcms.embedded.services import PARTS, provide

    # Open to the user that PostgreSQL runs as where we are root.
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-bench-"))
    folder.chmod(0o711)
    models = [] if keeps_model else [key for key in os.environ if key.startswith("LLM_")]
    for name in (*(part.variable for part in PARTS), *models, "EMBEDDING_MODEL", "DATABASE_POOL", "DEBUG"):
        os.environ.pop(name, None)
    os.environ |= {
        "SECRET_KEY": "only for benchmarks",
        "STATE_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "marcelcms.settings",
    }
    try:
        with provide(folder):
            import django
            from django.core.management import call_command
            from django.db import connections

            django.setup()
            call_command("migrate", verbosity=0, interactive=False)
            try:
                yield folder
            finally:
                connections.close_all()
    finally:
        home = (folder / "postgres").resolve()  # elsewhere where PostgreSQL's user cannot reach `folder`
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)


def postgres_processes(folder: Path) -> list[int]:
    """Return the server's main process and its children."""
    main = int((folder / "postgres" / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    return [main, *map(int, children)]


class Child:
    """A module of ours running in a fresh process; it gets and gives one JSON value a line."""

    def __init__(self, module: str, *arguments: str, python: str = sys.executable, env: Mapping[str, str] = {}) -> None:
        started = time.perf_counter()
        self._process = subprocess.Popen(
            [python, "-m", f"benchmarks.{module}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **THREADS, **env},
        )
        #: What it said when it was ready.
        self.ready = self._read()
        self.ready_seconds = round(time.perf_counter() - started, 2)

    def ask(self, value: object) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.communicate()  # the end of its input is its end


def say_json(value: object) -> None:
    """Return a child's answer."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
