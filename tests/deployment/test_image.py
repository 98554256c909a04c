"""The image, built from `docker/Dockerfile` and run as `compose.yml` runs it: root read-only, no capabilities.

Needs root, buildah, podman, runc and the two base images in their local storage (`vfs`). It takes minutes.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from marcelcms.embedded.processes import free_port
from tests.deployment.conftest import ROOT, database_url

IMAGE = "localhost/marcelcms:tests"
BASES = ("docker.io/library/python:3.12-slim-trixie", "docker.io/library/debian:trixie-slim")
PROGRAMS = ("buildah", "podman", "runc")
#: Files of the machine that a build behind a gateway needs; they do not go into the image.
LENT = ("/etc/ssl/certs", "/etc/apt/apt.conf.d", "/etc/resolv.conf")
BUILDAH = ("buildah", "--storage-driver", "vfs")
PODMAN = ("podman", "--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs")
CONFINED = ("--network", "host", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
CONFINED += ("--tmpfs", "/tmp", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
MOST_BYTES = 660_000_000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def output(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | variables)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def size(image: str) -> int:
    (found,) = json.loads(output(*PODMAN, "image", "inspect", image))
    return int(found["Size"])


@pytest.fixture(scope="module")
def image() -> str:
    if os.geteuid() != 0:
        pytest.skip("only root builds images here")
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for base in BASES:
        if subprocess.run([*PODMAN, "image", "exists", base], check=False, capture_output=True).returncode:
            pytest.skip(f"{base} is not in the local storage")
    lent = [part for path in LENT if Path(path).exists() for part in ("-v", f"{path}:{path}:ro")]
    command = [*BUILDAH, "bud", "--isolation", "chroot", "--network", "host", "--pull=never", "--format", "docker"]
    output(*command, *lent, "-f", str(ROOT / "docker" / "Dockerfile"), "-t", IMAGE, str(ROOT))
    return IMAGE


@contextmanager
def running(image: str, *words: str, **variables: str) -> Iterator[str]:
    """Start a container; yield its id."""
    options = [part for name in variables for part in ("--env", name)]  # their values come from the environment
    container = output(*PODMAN, "run", "--detach", *CONFINED, *options, image, *words, **variables).strip()
    try:
        yield container
    finally:
        output(*PODMAN, "rm", "--force", "--time", "5", container)


def test_it_adds_at_most_660_megabytes_to_its_base(image: str) -> None:
    (history,) = (json.loads(output(*PODMAN, "history", "--format", "json", image)),)
    print(
        *(f"{layer['size'] / 1e6:7.1f} MB  {layer['CreatedBy'][:90]}" for layer in history if layer["size"]), sep="\n"
    )
    assert size(image) - size(BASES[0]) <= MOST_BYTES


def test_nothing_in_it_can_be_written_and_nobody_in_it_has_rights(image: str) -> None:
    code = (
        "import os, pathlib\n"
        "print(os.getuid(), [line for line in open('/proc/self/status') if line.startswith('CapEff')][0].split()[1])\n"
        "for place in ('/app', '/app/.venv', '/usr', '/etc', '/app/var/models'):\n"
        "    try:\n"
        "        pathlib.Path(place, 'new').touch()\n"
        "    except OSError:\n"
        "        continue\n"
        "    print('written', place)\n"
    )
    said = output(*PODMAN, "run", "--rm", *CONFINED, "--entrypoint", "python", image, "-c", code)
    assert said == "10001 0000000000000000\n"


@pytest.mark.django_db(transaction=True)
def test_it_serves_pages_and_finds_its_models(image: str) -> None:
    port = free_port()
    variables = {
        "SECRET_KEY": "only for tests, and long enough for the checks of Django",
        "DATABASE_URL": database_url(),
        "REDIS_URL": os.environ["REDIS_URL"],
        "EMBEDDING_MODEL": "all-MiniLM-L6-v2+multilingual-e5-small",
        "HOST": "127.0.0.1",
        "PORT": str(port),
    }
    with running(image, "web", **variables) as container:
        healthy = [*PODMAN, "exec", container, "python", "/app/docker/healthcheck.py", "web"]
        deadline = time.monotonic() + 120
        while subprocess.run(healthy, check=False, capture_output=True).returncode:
            assert time.monotonic() < deadline, output(*PODMAN, "logs", container)
            time.sleep(1)
        embed = "import django; django.setup(); from core.inference.embeddings import get_embedder; "
        embed += "from core.inference.entailment.model import get_entailment_model; get_entailment_model(); "
        embed += "print(get_embedder().embed_questions(['Is all there?']).shape)"
        assert output(*PODMAN, "exec", container, "python", "-c", embed) == "(1, 768)\n"
        compiled = "import sys, pathlib, marcelcms.asgi; files = {getattr(each, '__cached__', None) for each in "
        compiled += (
            "[*sys.modules.values()]} - {None}; print([file for file in files if not pathlib.Path(file).exists()])"
        )
        assert output(*PODMAN, "exec", container, "python", "-c", compiled) == "[]\n"
        assert "pg_dump (PostgreSQL) 17" in output(*PODMAN, "exec", container, "pg_dump", "--version")
