"""One address before several web servers, as a proxy of an operator: connections go to them in turn."""

import itertools
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress


class Balancer:
    """Relays bytes; a server that takes no connection is passed over, and what breaks on one side breaks on the other.

    `websockets` are the ports that got one, in order.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self.websockets: list[int] = []
        self._ports, self._turns = ports, itertools.count()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):  # wakes who waits for a connection
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        turn = next(self._turns)
        with client:
            for number in range(len(self._ports)):
                port = self._ports[(turn + number) % len(self._ports)]
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as server:
                    self._relay_both(client, server, port)
                    return

    def _relay_both(self, client: socket.socket, server: socket.socket, port: int) -> None:
        back = threading.Thread(target=_relay, args=(server, client), daemon=True)
        back.start()
        with suppress(OSError):
            head = client.recv(65536)
            if head.startswith(b"GET /ws/"):
                self.websockets.append(port)
            server.sendall(head)
        _relay(client, server)
        back.join()


def _relay(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for side in (source, target):
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
