"""Programs that are started outside a container, and the makers' own tools."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from marcelcms.embedded.install import TOOLS, find_uv
from tests.deployment.images import CERTIFICATES, NAMES, PACKAGES, ROOT, build, need_programs

LOCK = Path(__file__).with_name("tools.lock")
#: What a deployment says of itself; a web process that faces the public refuses less.
PUBLIC = {
    "HTTPS": "true",
    "ALLOWED_HOSTS": "chat.uni.example",
    "PUBLIC_URL": "https://chat.uni.example",
    "CSRF_TRUSTED_ORIGINS": "https://chat.uni.example",
    "TRUSTED_PROXIES": "1",
    "LOG_FORMAT": "json",
}

Process = subprocess.Popen[bytes]
Start = Callable[..., Process]


def database_url() -> str:
    url = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(url._replace(path="/" + connection.settings_dict["NAME"]))


def environment(**variables: str) -> dict[str, str]:
    """As a container has it: the environment's programs first on the PATH, and what is in a file only there."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    merged = os.environ | {"PATH": path, "DATABASE_URL": database_url(), "HOST": "127.0.0.1"} | variables
    return {name: value for name, value in merged.items() if f"{name}_FILE" not in variables}


@pytest.fixture(scope="session")
def secret_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that name the files which docker/make-secrets makes."""
    folder = tmp_path_factory.mktemp("deployment") / "secrets"
    subprocess.run([ROOT / "docker" / "make-secrets", folder], check=True, capture_output=True)
    return {f"{name.upper()}_FILE": str(folder / name) for name in ("secret_key", "metrics_token", "llm_api_key")}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start docker/entrypoint with words and variables; `tmp_path/output` is what it says."""
    begun: list[Process] = []

    def start(*words: str, **variables: str) -> Process:
        command = [ROOT / "docker" / "entrypoint", *words]
        with (tmp_path / "output").open("w") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment(**variables), stdout=output, stderr=output, start_new_session=True
            )
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def asked(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Provide what docker/healthcheck.py says."""
    command = [sys.executable, ROOT / "docker" / "healthcheck.py", *words]
    env = environment(**variables)
    return subprocess.run(command, cwd=ROOT, env=env, timeout=30, stdout=subprocess.PIPE, text=True, check=False)


def is_well(*words: str, **variables: str) -> bool:
    return asked(*words, **variables).returncode == 0


@pytest.fixture(scope="session")
def tools() -> Path:
    """Provide the folder of the programs in tools.in, installed once for each state of the lock.

    They stand beside the project, and nothing imports them; some (ansible-core, ansible-lint) are GPL-3.
    """
    folder = TOOLS / f"deployment-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = find_uv()
        subprocess.run([uv, "--quiet", "venv", folder], check=True)
        install = ["pip", "sync", "--python", folder / "bin" / "python", "--require-hashes", LOCK]
        subprocess.run([uv, "--quiet", "--system-certs", *install], check=True)
        (folder / "complete").touch()
    return folder / "bin"


@pytest.fixture(scope="session")
def image() -> str:
    """Build the image of `docker/Dockerfile`; it takes minutes."""
    need_programs()
    lent = (CERTIFICATES, NAMES, PACKAGES)
    return build(ROOT / "docker" / "Dockerfile", "localhost/marcelcms:tests", lent=lent)
