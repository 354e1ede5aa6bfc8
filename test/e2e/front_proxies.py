"""Debian's nginx and haproxy in front of the server, each with its own configuration, folder and socket; and
the relay between proxy and server, which records every byte."""

import contextlib
import pathlib
import socket
import subprocess
import tempfile

from http_wire import await_true
from proxy import Link, Proxy

NGINX = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 256; }}
http {{
    log_format said '$http_x_request_id $upstream_addr';
    access_log {folder}/said said;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 100m;
    upstream restante {{ server 127.0.0.1:{port}; keepalive 4; }}
    server {{
        listen unix:{folder}/socket;
        location / {{
            proxy_pass http://restante;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
            proxy_next_upstream off;
            proxy_ignore_client_abort on;
        }}
        {options}
    }}
}}
"""

HAPROXY = """
global
    log stdout format raw local0
defaults
    mode http
    log global
    timeout connect 5s
    timeout client 10s
    timeout server 20s
frontend front
    bind unix@{folder}/socket
    http-request capture req.hdr(x-request-id) len 64
    log-format "%[capture.req.hdr(0)] %s"
    {options}
    default_backend restante
backend restante
    http-reuse always
    server restante 127.0.0.1:{port}
"""


class Recorded(Link):
    """A connection from the proxy to the server, with everything that was sent on it in either direction."""

    def __init__(self, relay, client, server):
        super().__init__(relay, client, server)
        self.asked, self.answered = bytearray(), bytearray()
        relay.recorded.append(self)

    async def pass_on(self, data, writer):
        (self.asked if writer is self.server[1] else self.answered).extend(data)
        await super().pass_on(data, writer)


class Relay(Proxy):
    link = Recorded

    def __init__(self, upstream):
        self.recorded = []
        super().__init__(upstream)

    def take(self):
        """Everything sent on every connection since the last call: [(to the server, from the server)]."""
        async def cut_off():
            taken = [(bytes(link.asked), bytes(link.answered)) for link in self.recorded]
            self.recorded[:] = [link for link in self.recorded if link in self._links]
            for link in self.recorded:
                link.asked.clear()
                link.answered.clear()
            return [pair for pair in taken if any(pair)]
        return self.call(cut_off())


class Front:
    """A proxy that runs in the foreground as our child, listens at `self.socket` and logs a line for each
    request: its id, and where the request was sent."""

    def __init__(self, name, config, command, nowhere, port, options=""):
        self._folder = tempfile.TemporaryDirectory(prefix=f"restante-{name}-")
        folder = pathlib.Path(self._folder.name)
        self.socket = str(folder / "socket")
        self._said = folder / "said"
        self._nowhere = nowhere
        (folder / "config").write_text(config.format(folder=folder, port=port, options=options))
        with open(folder / "output", "wb") as errors, open(self._said, "ab") as said:
            self.process = subprocess.Popen([*command, folder / "config"], stdin=subprocess.DEVNULL,
                                            stdout=said, stderr=errors, start_new_session=True)
        try:
            await_true(self._listens, 20, f"{name} listens")
        except AssertionError:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._folder.cleanup()

    def _listens(self):
        """The socket file exists a moment before the proxy listens on it."""
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(self.socket) == 0

    def said(self):
        """How many requests it has logged."""
        return len(self._said.read_text(errors="replace").splitlines())

    def forwarded(self, since):
        """The ids of the requests that it forwarded, according to its log, after a said()."""
        said = self._said.read_text(errors="replace").splitlines()[since:]
        lines = [line.rpartition(" ") for line in said]
        return [name for name, _, place in lines if place not in self._nowhere]


def nginx(port, options=""):
    return Front("nginx", NGINX, ["nginx", "-c"], ("-",), port, options)


def haproxy(port, options=""):
    return Front("haproxy", HAPROXY, ["haproxy", "-db", "-f"], ("<NOSRV>", "<STATS>", "-"), port, options)
