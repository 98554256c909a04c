"""docker/nginx/nginx.conf for a run outside a container."""

import subprocess
from pathlib import Path

from marcelcms.embedded.processes import free_port

CONFIGURATION = Path(__file__).resolve().parents[2] / "docker" / "nginx" / "nginx.conf"


def nginx_configuration(folder: Path, *, web: int, plain: int, encrypted: int) -> Path:
    """docker/nginx/nginx.conf with this machine's paths and ports, and an address in place of Docker's name server."""
    certificate = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", folder / "tls_key", "-out", folder / "tls_certificate"]
    subprocess.run(["openssl", *certificate, *files], check=True, capture_output=True)
    changes = {
        "/tmp/": f"{folder}/",  # first: the folder may lie there
        "/run/secrets/": f"{folder}/",
        "include /etc/nginx/mime.types;": "",
        "listen 8080 ": f"listen 127.0.0.1:{plain} ",
        "listen 8443 ": f"listen 127.0.0.1:{encrypted} ",
        "listen 127.0.0.1:8081;": f"listen 127.0.0.1:{free_port()};",
        "server web:8000 resolve ": f"server 127.0.0.1:{web} ",
    }
    text = CONFIGURATION.read_text()
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    (folder / "nginx.conf").write_text(text)
    return folder / "nginx.conf"
