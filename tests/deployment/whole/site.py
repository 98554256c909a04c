"""Starts what `docker/compose.yml` names with Podman, service by service, as Compose would.

podman-compose does not wait for health with Podman 4.3, and without systemd nobody runs the checks: this runs them in
the containers.
"""

import json
import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.deployment.images import PODMAN, output

#: Podman has no driver `local`, and root may have fewer open files than it asks for.
LIMITS = ("--log-driver", "k8s-file", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
#: Settings of a service by the option of the same meaning.
SAME = {"user": "user", "shm_size": "shm-size", "stop_signal": "stop-signal", "pids_limit": "pids-limit"}
SAME |= {"mem_limit": "memory"}
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?[^}]*)?\}")
PROJECT = "marcelcms-tests"
FRONT, NAMES_OF_FRONT = "10.98.7.0/24", "10.98.7.1"
PATIENCE = 180

Service = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Site:
    """A copy of the folder `docker` with its secrets and the variables of its `.env`."""

    folder: Path
    variables: Mapping[str, str]
    begun: list[str] = field(default_factory=list)

    @property
    def services(self) -> Mapping[str, Service]:
        services: Mapping[str, Service] = self._compose["services"]
        return services

    @property
    def _compose(self) -> Mapping[str, Any]:
        text = VARIABLE.sub(self._value, (self.folder / "compose.yml").read_text()).replace("$$", "$")
        compose: Mapping[str, Any] = yaml.safe_load(text)
        return compose

    def _value(self, found: re.Match[str]) -> str:
        value = self.variables.get(found["name"]) or found["default"]
        assert value is not None, found.group()
        return value

    def networks(self) -> None:
        """Make the networks; `front` at known addresses: the first one is that of Podman's server of names."""
        for name, options in self._compose["networks"].items():
            inside = ["--internal"] if (options or {}).get("internal") else []
            addresses = ["--subnet", FRONT] if name == "front" else []
            podman("network", "create", *inside, *addresses, f"{PROJECT}-{name}")

    def up(self, names: Iterable[str]) -> None:
        """Start services after those that they depend on, and wait for each as its dependents do."""
        for name in names:
            if not self.containers(name):
                self._start(name)

    def _start(self, name: str) -> None:
        service = self.services[name]
        for other, needed in (service.get("depends_on") or {}).items():
            self.up([other])
            for container in self.containers(other):
                ends = needed["condition"] == "service_completed_successfully"
                wait_until_ended(container) if ends else self.wait_until_healthy(container, self.services[other])
        for number in range(int(service.get("deploy", {}).get("replicas", 1))):
            container = f"{PROJECT}-{name}-{number + 1}"
            self.begun.append(container)
            podman("run", "--detach", "--name", container, *self._options(name, service), *_command(service))

    def containers(self, name: str) -> list[str]:
        return [each for each in self.begun if re.fullmatch(rf"{PROJECT}-{name}-\d+", each)]

    def run(self, name: str, *words: str, check: bool = True) -> str:
        """Run a command once as such a service, as `docker compose run --rm` does, and return what it says."""
        service = self.services[name]
        command = (*PODMAN, "run", "--rm", *self._options(name, service), service["image"], *words)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout

    def wait_until_healthy(self, container: str, service: Service) -> None:
        kind, *check = service["healthcheck"]["test"] if "healthcheck" in service else image_check(service["image"])
        command = check if kind == "CMD" else ["sh", "-c", *check]
        deadline = time.monotonic() + PATIENCE
        # What Podman leaves behind keeps a pipe open; without systemd its exec can hang.
        words = ("timeout", "20", *PODMAN, "exec", container, *command)
        while subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            assert time.monotonic() < deadline, podman("logs", "--tail", "30", container)
            time.sleep(1)

    def _options(self, name: str, service: Service) -> Iterator[str]:
        yield from ("--read-only", "--pull", "never", *LIMITS)
        for right in service["cap_drop"]:
            yield f"--cap-drop={right}"
        for option in service["security_opt"]:
            yield f"--security-opt={option.removesuffix(':true')}"
        if service.get("init"):
            yield "--init"
        for key in SAME.keys() & service.keys():
            yield f"--{SAME[key]}={service[key]}"
        for group in service.get("group_add", []):
            yield f"--group-add={group}"
        for network in service["networks"]:
            yield f"--network={PROJECT}-{network}:alias={name}"
        for published in service.get("ports", []):
            yield f"--publish={published}"
        for variable, value in service.get("environment", {}).items():
            yield f"--env={variable}={'' if value is None else value}"
        if any((self.folder / each["path"]).exists() for each in service.get("env_file", [])):
            yield f"--env-file={self.folder / 'more.env'}"
        for secret in service.get("secrets", []):
            yield f"--volume={self.folder / 'secrets' / secret}:/run/secrets/{secret}:ro"
        for volume in service.get("volumes", []):
            source, rest = volume.split(":", 1)
            yield f"--volume={(self.folder / source).resolve() if '/' in source else f'{PROJECT}-{source}'}:{rest}"
        for place in service.get("tmpfs", []):
            path, _colon, options = place.partition(":")
            named = options.split(",") if options else []
            kept = [each for each in named if each.startswith("size=")]
            owned = ["U"] if any(each.startswith("uid=") for each in named) else []  # Podman's word for: of its user
            yield f"--tmpfs={path}:{','.join(('rw', *kept, *owned))}"
        if entrypoint := service.get("entrypoint"):
            yield f"--entrypoint={json.dumps(entrypoint)}"


def _command(service: Service) -> list[str]:
    return [service["image"], *service.get("command", [])]


def image_check(image: str) -> list[str]:
    (found,) = json.loads(podman("image", "inspect", image))
    check: list[str] = found["Healthcheck"]["Test"]
    return check


def wait_until_ended(container: str) -> None:
    assert podman("wait", container).strip() == "0", podman("logs", "--tail", "30", container)


def podman(*words: str) -> str:
    return output(*PODMAN, *words)


def remove(site: Site) -> None:
    """Remove all containers, networks and volumes of the site."""
    for words in (
        ("rm", "--force", "--time", "2", *reversed(site.begun)),
        ("network", "rm", "--force", *(f"{PROJECT}-{name}" for name in site._compose["networks"])),
        ("volume", "rm", "--force", *(f"{PROJECT}-{name}" for name in site._compose["volumes"])),
    ):
        subprocess.run([*PODMAN, *words], capture_output=True, check=False)
