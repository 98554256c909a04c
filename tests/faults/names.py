"""A server of names of a test's own, and a room in which it is the only one."""

import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path

#: Everything is answered with this machine.
HERE = socket.inet_aton("127.0.0.1")
ADDRESS, TYPE_A = "127.0.0.93", 1


class Resolver:
    """Knows every name as one of this machine, until it `is_silent`: then whoever asks waits."""

    def __init__(self) -> None:
        self.is_silent = False
        self.asked: set[str] = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((ADDRESS, 53))
        threading.Thread(target=self._serve, name="names", daemon=True).start()

    def room(self, folder: Path) -> tuple[str, ...]:
        """Return a command that runs another one, for which this is the only server of names."""
        file = folder / "resolv.conf"
        file.write_text(f"nameserver {ADDRESS}\n")
        return (
            *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
            f'mount --bind {file} /etc/resolv.conf && exec "$@"',
            "sh",
        )

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                question, who = self._socket.recvfrom(2048)
                name, end = _name_in(question)
                self.asked.add(name)
                if not self.is_silent:
                    self._socket.sendto(_answer(question, end), who)


def _name_in(question: bytes) -> tuple[str, int]:
    """Return the name that is asked for, and where its question ends."""
    at, labels = 12, []
    while length := question[at]:
        labels.append(question[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ".".join(labels), at + 5


def _answer(question: bytes, end: int) -> bytes:
    (kind,) = struct.unpack_from("!H", question, end - 4)
    found = struct.pack("!HHHIH", 0xC00C, TYPE_A, 1, 0, 4) + HERE if kind == TYPE_A else b""
    head = question[:2] + struct.pack("!HHHHH", 0x8180, 1, bool(found), 0, 0)
    return head + question[12:end] + found
