"""What docker/compose.yml promises, read as text: no Docker engine is needed."""

import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.urls import reverse

import chat.api.cors
import chat.mcp_server.server
import chat.openai_api.requests
import core.rest.parsers
import faqs.importexport.files
from chat.models.sites import MOST_LOGO_BYTES
from marcelcms.embedded.parts import socket_options
from marcelcms.embedded.postgres import LOG_SETTINGS

DOCKER = Path(__file__).resolve().parents[2] / "docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN_IMAGE = [name for name, service in SERVICES.items() if "MARCELCMS_IMAGE" in service["image"]]
WORKERS = {name: service["command"][1].split(",") for name, service in SERVICES.items() if name.startswith("worker")}
each_service = pytest.mark.parametrize("name", SERVICES)


def seconds(duration: str) -> int:
    return int(duration.removesuffix("s"))


@each_service
def test_a_container_can_change_nothing_of_itself_and_gain_no_right(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


@each_service
def test_no_container_runs_as_root(name: str) -> None:
    service = SERVICES[name]
    if "user" in service:
        assert not service["user"].startswith("0")
    else:  # the images of docker/Dockerfile end as user 10001
        assert "MARCELCMS_IMAGE" in service["image"] or "PGBOUNCER_IMAGE" in service["image"]


def test_both_images_end_as_an_ordinary_user() -> None:
    stages = (DOCKER / "Dockerfile").read_text().split("\nFROM ")
    final, pgbouncer = stages[-1], next(stage for stage in stages if " AS pgbouncer" in stage)
    for stage in (final, pgbouncer):
        assert re.findall(r"^USER (.+)$", stage, re.MULTILINE) == ["10001:10001"]


@each_service
def test_what_a_container_may_use_is_limited(name: str) -> None:
    assert {"mem_limit", "cpus", "pids_limit"} <= SERVICES[name].keys()
    assert SERVICES[name]["logging"]["options"].keys() == {"max-size", "max-file"}


@each_service
def test_every_lasting_service_says_how_it_is(name: str) -> None:
    service = SERVICES[name]
    from_the_image = name == "web"
    # A one-shot is well when it ends well. Compose 2.26 waits for no other service whose check is disabled: it fails.
    is_without = service.get("restart") == "no"
    check = service.get("healthcheck", {})
    assert from_the_image or (check.get("disable") is True) == is_without


@each_service
def test_an_image_has_a_version(name: str) -> None:
    image = SERVICES[name]["image"]
    assert "_IMAGE:-" in image or re.search(r":v?\w*\d", image)


def test_only_nginx_can_be_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if service.get("ports")] == ["nginx"]
    networks = COMPOSE["networks"]
    assert networks["data"]["internal"]
    assert networks["front"]["internal"]
    for name in ("postgres", "pgbouncer", "valkey"):
        assert SERVICES[name]["networks"] == ["data"]
    assert "data" not in SERVICES["nginx"]["networks"]


def test_visitors_come_with_addresses_of_their_own() -> None:
    # Docker translates IPv6 into the bridge's address where the network has none.
    assert not COMPOSE["networks"]["edge"].get("enable_ipv6")
    assert all(port.startswith("0.0.0.0:") for port in SERVICES["nginx"]["ports"])


def owned_by_the_product() -> list[str]:
    """Return the folders of the image that belong to its user."""
    (line,) = re.findall(r"^RUN install -d -o 10001 -g 10001 (.+)$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    return line.split()


def test_uploads_wait_on_a_disk_and_not_in_memory() -> None:
    web = SERVICES["web"]
    folder = web["environment"]["TMPDIR"]
    mounted = dict(volume.split(":") for volume in web["volumes"])
    volume = next(name for name, place in mounted.items() if place == folder)
    assert volume in COMPOSE["volumes"]
    # A new volume belongs to whom the image's folder belongs to.
    assert folder in owned_by_the_product()
    assert mounted["media"] == "/app/var/media"


def test_all_who_search_share_one_lexical_index() -> None:
    folder = "/app/var/lexical"
    searching = [SERVICES[name] for name in ("web", "worker", "worker-long", "worker-reports")]
    assert {volume for service in searching for volume in service["volumes"] if volume.endswith(folder)} == {
        f"lexical:{folder}"
    }
    assert all(f"lexical:{folder}" in service["volumes"] for service in searching)
    assert folder in owned_by_the_product()


def test_the_log_of_the_database_is_as_quiet_as_the_embedded_one() -> None:
    given = dict(option.split("=") for option in SERVICES["postgres"]["command"] if "=" in option)
    assert {name: given.get(name) for name in LOG_SETTINGS} == LOG_SETTINGS


def test_nginx_cannot_fill_its_memory_with_files() -> None:
    size = re.search(r"size=(\d+)m", SERVICES["nginx"]["tmpfs"][0])
    assert size
    assert int(size[1]) <= int(SERVICES["nginx"]["mem_limit"].removesuffix("m")) / 2


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        (reverse("admin:knowledge_pdfupload_add"), settings.PDF_MAX_MEGABYTES * 1_000_000),
        (reverse("admin:faqs_faq_import"), faqs.importexport.files.MOST_BYTES),
        (reverse("admin:index"), settings.DATA_UPLOAD_MAX_MEMORY_SIZE + MOST_LOGO_BYTES),
        ("/api/staff/v1/", core.rest.parsers.MOST_BYTES),
        ("/api/v1/", chat.api.cors.MOST_BYTES),
        ("/v1/", chat.openai_api.requests.MOST_BYTES),
        ("/mcp", chat.mcp_server.server.MOST_BYTES),
    ],
)
def test_nginx_lets_through_what_the_application_takes_and_little_more(path: str, taken: int) -> None:
    text = (DOCKER / "nginx" / "nginx.conf").read_text()
    of_all, *locations = text.split("location ")
    own = next((each for each in locations if re.match(rf"(= )?{path} {{", each)), "")
    limit = re.search(r"client_max_body_size (\d+)([km]);", own.partition("}")[0]) or re.search(
        r"client_max_body_size (\d+)([km]);", of_all
    )
    assert limit
    assert taken < int(limit[1]) * {"k": 1024, "m": 1024**2}[limit[2]] <= max(taken * 1.2, 128 * 1024)


def test_the_image_has_what_a_backup_and_a_restore_call() -> None:
    called = {
        name
        for path in (DOCKER.parent / "marcelcms" / "backups").glob("*.py")
        for name in re.findall(r'program\("(\w+)"\)', path.read_text())
    }
    there = re.findall(r"postgresql/17/bin/(\w+)", (DOCKER / "Dockerfile").read_text())
    assert set(there) == called >= {"pg_dump", "pg_restore"}


def test_nobody_reaches_docker_itself() -> None:
    assert "docker.sock" not in (DOCKER / "compose.yml").read_text()


def test_every_queue_has_one_worker_and_all_tasks_have_a_queue() -> None:
    served = [queue for queues in WORKERS.values() for queue in queues]
    assert len(served) == len(set(served))
    routed = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()}
    assert routed | {"celery"} <= set(served)


def test_nothing_waits_behind_a_crawl() -> None:
    routes = {task: route["queue"] for task, route in settings.CELERY_TASK_ROUTES.items()}
    crawls = {"knowledge.tasks.run_crawl", "knowledge.tasks.crawl_source"}
    assert {task for task, queue in routes.items() if queue == "crawl"} == crawls
    assert ["crawl"] in WORKERS.values()


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_is_asked_under_its_own_name(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"][-2:] == ["worker", service["command"][1]]


@pytest.mark.parametrize("name", OWN_IMAGE)
def test_every_process_gets_the_settings_of_a_file_that_need_not_be_there(name: str) -> None:
    assert SERVICES[name]["env_file"] == [{"path": "more.env", "required": False}]


def test_secrets_come_as_files_that_their_reader_has() -> None:
    for name in OWN_IMAGE:
        environment = SERVICES[name]["environment"]
        files = {value.removeprefix("/run/secrets/") for key, value in environment.items() if key.endswith("_FILE")}
        assert files == set(SERVICES[name]["secrets"])
        assert not {"SECRET_KEY", "DATABASE_PASSWORD", "REDIS_URL", "LLM_API_KEY"} & environment.keys()
    declared = set(COMPOSE["secrets"])
    assert {secret for service in SERVICES.values() for secret in service.get("secrets", [])} == declared


def test_what_must_keep_its_session_goes_past_the_pooler() -> None:
    for name in OWN_IMAGE:
        environment = SERVICES[name]["environment"]
        is_direct = "@postgres:" in environment["DATABASE_URL"]
        assert is_direct == (name in {"migrate", "backup"})
        assert environment["PGBOUNCER"] == str(not is_direct).lower()


def test_pgbouncer_begins_a_session_as_the_settings_do() -> None:
    begun = re.search(r"connect_query='([^']*)'", (DOCKER / "pgbouncer.ini").read_text())
    assert begun
    in_pgbouncer = dict(re.findall(r"SET (\S+) = (\w+)", begun[1]))
    options = settings.DATABASES["default"]["OPTIONS"]["options"]
    assert in_pgbouncer == dict(re.findall(r"-c (\S+)=(\w+)", options))


def test_pgbouncer_lends_a_connection_for_a_transaction_and_keeps_prepared_statements() -> None:
    lines = (DOCKER / "pgbouncer.ini").read_text().splitlines()
    said = dict(line.split(" = ", 1) for line in lines if " = " in line and not line.startswith(("marcelcms", ";")))
    assert said["pool_mode"] == "transaction"
    assert int(said["max_prepared_statements"]) > 0
    assert said["idle_transaction_timeout"] == "0"  # `core.db.locks` holds a transaction as long as its work takes
    connections = next(part for part in SERVICES["postgres"]["command"] if part.startswith("max_connections="))
    # And some for migrations, backups and people.
    assert int(said["default_pool_size"]) + int(said["reserve_pool_size"]) <= int(connections.partition("=")[2]) - 20


def test_an_answer_ends_before_its_process_is_killed() -> None:
    answer = settings.LLM_QUEUE_SECONDS + settings.LLM_TOTAL_SECONDS
    web, nginx = SERVICES["web"], SERVICES["nginx"]
    assert answer <= int(web["environment"]["STOP_SECONDS"]) < seconds(web["stop_grace_period"])
    assert seconds(nginx["stop_grace_period"]) > answer


def test_a_worker_hands_its_tasks_back_before_it_is_killed() -> None:
    patience = re.search(r"sleep \"\$\{STOP_SECONDS:-(\d+)\}", (DOCKER / "entrypoint").read_text())
    assert patience
    for name in WORKERS:
        assert seconds(SERVICES[name]["stop_grace_period"]) >= int(patience[1]) + 20


def test_the_container_serves_sockets_as_make_run_does() -> None:
    assert " ".join(socket_options()) in (DOCKER / "entrypoint").read_text()


def test_web_waits_for_tables_and_servers() -> None:
    for name in ("web", "beat", *WORKERS):
        assert {part: needed["condition"] for part, needed in SERVICES[name]["depends_on"].items()} == {
            "migrate": "service_completed_successfully",
            "pgbouncer": "service_healthy",
            "valkey": "service_healthy",
        }


def test_secrets_are_made_once_and_by_their_readers_form(tmp_path: Path) -> None:
    def make() -> dict[str, str]:
        subprocess.run([DOCKER / "make-secrets", tmp_path / "secrets"], check=True, capture_output=True)
        return {file.name: file.read_text().strip() for file in (tmp_path / "secrets").iterdir()}

    made = make()
    # A certificate is nothing to make up.
    assert made.keys() == COMPOSE["secrets"].keys() - {"tls_certificate", "tls_key"}
    assert len(made["secret_key"]) >= 50
    assert made["pgbouncer_users"] == f'"marcelcms" "{made["database_password"]}"'
    password = made["valkey_password"].removeprefix("requirepass ")
    assert made["redis_url"] == f"redis://:{password}@valkey:6379/0"
    assert len(set(made.values())) == len(made)
    assert make() == made
    for file in (tmp_path / "secrets").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o440


def test_nothing_local_goes_into_the_image() -> None:
    ignored = (DOCKER.parent / ".dockerignore").read_text().splitlines()
    rules = [line for line in ignored if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_in = {line[1:] for line in rules if line.startswith("!")}
    assert all((DOCKER.parent / name).exists() for name in let_in)
    assert not let_in & {"var", "tests", ".git", "docker", "docker/secrets"}
