"""HTTP/1.1 by hand: the bytes on the wire are exactly what a test wrote, and a response is parsed as strictly
as a proxy would parse it."""

import json
import resource
import socket
import time

import conformance
import told_tokens

# Some tests open thousands of connections; the usual soft limit of a login is 1024 descriptors.
HARD_LIMIT = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (HARD_LIMIT, HARD_LIMIT))


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # names in lower case; the last of a repeated field
        self.body = body
        told_tokens.remember_received(body)

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Wire:
    """One connection to the server. What a server under test answers is checked against its OpenAPI document."""

    _requests = None

    def __init__(self, address, timeout=30, source=None, receive_buffer=None):
        """With a separate source address, if given: all of 127.0.0.0/8 is local."""
        self.socket = socket.create_connection(address, timeout=timeout,
                                               source_address=source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._received = bytearray()
        self._requests = conformance.follow(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        told_tokens.remember_sent(data)
        if self._requests:
            self._requests.sent(data)
        self.socket.sendall(data)

    def send_what_is_taken(self, pieces):
        """Sends until the server stops reading, as it may after rejecting the request."""
        try:
            for piece in pieces:
                self.send(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def read_answer(self, head_only=False):
        head = self._read_until(b"\r\n\r\n").decode("latin-1")
        status_line, *lines = head.split("\r\n")
        version, status, _ = (status_line + "  ").split(" ", 2)
        if version != "HTTP/1.1" or len(status) != 3:
            raise ValueError(f"not a status line: {status_line!r}")
        headers = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise ValueError(f"not a header: {line!r}")
            headers[name.lower()] = value.strip()
        bodiless = head_only or int(status) in (100, 204, 304)
        answer = Answer(int(status), headers, b"" if bodiless else self._read_body(headers))
        if self._requests:
            self._requests.answered(answer, head_only)
        return answer

    def is_closed(self, within=5):
        """Whether the server closes the connection, without sending another byte, within some seconds."""
        self.socket.settimeout(within)
        try:
            return not self._received and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def _read_body(self, headers):
        if headers.get("transfer-encoding") == "chunked":
            body = bytearray()
            while size := int(self._read_until(b"\r\n"), 16):
                body += self._read(size)
                self._read(2)
            self._read(2)
            return bytes(body)
        return self._read(int(headers["content-length"]))

    def _read(self, count):
        while len(self._received) < count:
            self._receive()
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken

    def _read_until(self, mark):
        while (end := self._received.find(mark)) < 0:
            self._receive()
        taken = bytes(self._received[:end])
        del self._received[:end + len(mark)]
        return taken

    def _receive(self):
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise ConnectionError(f"closed by the server after {bytes(self._received[:200])!r}")
        self._received += piece


def request_head(method, target, headers):
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode()


def await_true(condition, within, what):
    """Polls until the condition is true and returns its value. Fails with `what` after some seconds."""
    end = time.monotonic() + within
    while True:
        seen = condition()
        if seen:
            return seen
        if time.monotonic() > end:
            raise AssertionError(f"not within {within} s: {what}")
        time.sleep(0.01)
