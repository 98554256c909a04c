"""The image, built from `docker/Dockerfile` and run as `compose.yml` runs it: root read-only, no capabilities.

Needs root, buildah, podman, runc and the two base images in their local storage (`vfs`). It takes minutes.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from marcelcms.embedded.processes import free_port
from tests.deployment.conftest import database_url
from tests.deployment.images import BASES, PODMAN, output

CONFINED = ("--network", "host", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
CONFINED += ("--tmpfs", "/tmp", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
MOST_BYTES = 600_000_000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def size(image: str) -> int:
    (found,) = json.loads(output(*PODMAN, "image", "inspect", image))
    return int(found["Size"])


@contextmanager
def running(image: str, *words: str, **variables: str) -> Iterator[str]:
    """Start a container; yield its id."""
    options = [part for name in variables for part in ("--env", name)]  # their values come from the environment
    container = output(*PODMAN, "run", "--detach", *CONFINED, *options, image, *words, **variables).strip()
    try:
        yield container
    finally:
        output(*PODMAN, "rm", "--force", "--time", "5", container)


def test_it_adds_at_most_600_megabytes_to_its_base(image: str) -> None:
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
        embed += "print(get_embedder().embed_questions(['Is all there?']).shape)"
        assert output(*PODMAN, "exec", container, "python", "-c", embed) == "(1, 768)\n"
        judge = "import django; django.setup(); from core.inference.entailment.model import get_entailment_model; "
        judge += "said = get_entailment_model().logit; "
        judge += "print(said('Lockers are free.', 'Lockers are free.') > said('Lockers are free.', 'The gym is open.'))"
        assert output(*PODMAN, "exec", container, "python", "-c", judge) == "True\n"
        assert "pg_dump (PostgreSQL) 17" in output(*PODMAN, "exec", container, "pg_dump", "--version")
