"""Base class of the push tests: a server that may call loopback, and workspaces that can be called."""

import contextlib
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import uuid

import conformance
import told_tokens
from forms import CHROME
from http_wire import Wire, request_head
from identity_case import call
from server_case import ServerCase
from testbed import Workspace

INGEST = pathlib.Path(__file__).resolve().parent / "receivers" / "ingest.py"
# Debian's, which has Debian's packages.
PYTHON = "/usr/bin/python3"


conformance.forwarding = True


class IngestApp:
    """The ASGI application of receivers/ingest.py as a child process."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="restante-ingest-")
        self.folder = pathlib.Path(self._folder.name)
        (self.folder / "files").mkdir()
        (self.folder / "calls").touch()
        self.process = subprocess.Popen([PYTHON, INGEST, self.folder], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self._folder.cleanup()

    def trust(self, secret):
        (self.folder / "secret").write_text(secret)

    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]


NGINX = """
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 10m;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://127.0.0.1:{upstream}; proxy_http_version 1.1; }}
    }}
}}
"""


class WorkspaceNginx:
    """nginx in front of a workspace. It inherits a socket that listens already, so that its port is free."""

    def __init__(self, upstream):
        self._folder = tempfile.TemporaryDirectory(prefix="restante-nginx-")
        folder = pathlib.Path(self._folder.name)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            (folder / "config").write_text(NGINX.format(
                folder=folder, port=self.port, upstream=upstream, user="user root;" if os.geteuid() == 0 else ""))
            self.process = subprocess.Popen(
                ["nginx", "-c", folder / "config", "-e", folder / "errors"], pass_fds=[listener.fileno()],
                env={**os.environ, "NGINX": f"{listener.fileno()};"}, stderr=subprocess.DEVNULL,
                start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)
        self._folder.cleanup()


def make_certificate(path, names="DNS:localhost,IP:127.0.0.1"):
    """A self-signed certificate at `path`: the context of a server that shows it."""
    key = path.with_suffix(".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", f"/CN={path.stem}", "-addext", f"subjectAltName={names}",
                    "-keyout", key, "-out", path], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    return context


class Receiver:
    """A workspace that does to each connection what the test says. `script` gets a Peer and runs in a thread
    of its own; an error in it fails the test at the end."""

    def __init__(self, script, context=None):
        self._script, self._context = script, context
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._listener.getsockname()[1]
        self.accepted = 0
        self._failures, self._threads, self._peers = [], [], []
        self._acceptor = threading.Thread(target=self._accept)
        self._acceptor.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)
        for peer in self._peers:
            peer.socket.close()
        if kind is None and self._failures:
            raise self._failures[0]

    def _accept(self):
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            thread = threading.Thread(target=self._serve, args=(accepted,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, accepted):
        accepted.settimeout(60)
        peer = Peer(accepted)
        self._peers.append(peer)
        try:
            if self._context:
                peer.socket = self._context.wrap_socket(accepted, server_side=True)
            self._script(peer)
        except OSError:
            pass  # the server ends connections whenever it likes
        except Exception as failure:
            self._failures.append(failure)


class Peer(Wire):
    """The workspace's end of a connection."""

    def __init__(self, accepted):
        self.socket = accepted
        self._received = bytearray()

    def read_head(self):
        """(request line, {name in lower case: value})"""
        line, *fields = self._read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        return line, {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}

    def read_request(self):
        """The head, and all of the body. A request, unlike a response, has none unless it says so."""
        line, headers = self.read_head()
        framed = headers.keys() & {"content-length", "transfer-encoding"}
        return line, headers, self._read_body(headers) if framed else b""

    def read_to_end(self):
        """Everything until the server ends the connection."""
        with contextlib.suppress(ConnectionResetError):
            while piece := self.socket.recv(1 << 20):
                self._received += piece
        return bytes(self._received)

    def answer(self, status="200 OK", body=b"{}", headers=()):
        fields = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers]
        self.socket.sendall("\r\n".join([f"HTTP/1.1 {status}", *(f"{n}: {v}" for n, v in fields), "", ""]).encode()
                            + body)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class PushCase(ServerCase):
    flags = ("--push-allow", "loopback")

    def register(self, url, server=None):
        """A push workspace: (Workspace, its inbound secret)."""
        identity = str(uuid.uuid4())
        answer = call(server or self.server, "POST", "/registry/register",
                      body={"id": identity, "delivery_mode": "push", "url": url})
        self.assertEqual(answer.status, 200, answer)
        told = answer.json()
        return Workspace(identity, told["auth_token"]), told_tokens.remember(told["platform_inbound_secret"])

    def workspace_at(self, port, path="/agent/", scheme="http", host="127.0.0.1"):
        return self.register(f"{scheme}://{host}:{port}{path}")[0]

    def head(self, workspace, length=None, headers=()):
        framing = ("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))
        return request_head("POST", workspace.uploads, [
            ("Host", "test"), ("Authorization", f"Bearer {workspace.token}"),
            ("Content-Type", f"multipart/form-data; boundary={CHROME}"), framing, *headers])

    def send(self, workspace, body, length=True, headers=(), timeout=60):
        """One upload on a new connection, with its length or as the bytes of chunks."""
        with Wire(self.server.address, timeout=timeout) as wire:
            wire.send_what_is_taken([self.head(workspace, len(body) if length else None, headers), body])
            return wire.read_answer()

    def logged(self, event, since):
        return [line for line in self.server.log_lines(since) if line["event"] == event]

    def forwards(self, kind, outcome):
        return self.server.metrics().get(f'molecule_forwards_total{{kind="{kind}",outcome="{outcome}"}}', 0)
