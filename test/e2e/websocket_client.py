"""WebSocket (RFC 6455) and Server-Sent Events by hand, so that a test can also send what no client would."""

import base64
import json
import os
import socket
import struct
import threading
import time

import conformance
from http_wire import Answer, Wire, request_head

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


# What becomes of agents is told at moments that tests of other events do not choose.
PRESENCE = {"WORKSPACE_ONLINE", "WORKSPACE_OFFLINE", "WORKSPACE_DEGRADED", "WORKSPACE_REMOVED", "TASK_UPDATED"}


class Closed(Exception):
    """The server closed it: with a code, or None if the connection was just dropped."""

    def __init__(self, code):
        super().__init__(f"closed with {code}")
        self.code = code


def frame(opcode, payload=b"", fin=True, masked=True, rsv=0, length=None):
    """One client frame; `length` overrides the length in the header."""
    claimed = len(payload) if length is None else length
    head = bytearray([(0x80 if fin else 0) | rsv << 4 | opcode])
    mask_bit = 0x80 if masked else 0
    if claimed < 126:
        head.append(mask_bit | claimed)
    elif claimed < 1 << 16:
        head += bytes([mask_bit | 126]) + struct.pack("!H", claimed)
    else:
        head += bytes([mask_bit | 127]) + struct.pack("!Q", claimed)
    if not masked:
        return bytes(head) + payload
    mask = os.urandom(4)
    return bytes(head) + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def handshake(target, token=None, headers=(), key=None, version="13"):
    key = base64.b64encode(os.urandom(16)).decode() if key is None else key
    fields = [("Host", "test"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
              ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", version), *headers]
    if token:
        fields.append(("Authorization", f"Bearer {token}"))
    return request_head("GET", target, [field for field in fields if field[1]])


class WebSocket:
    """A connection after its handshake; `answer` is the response, and only 101 makes it a WebSocket. Events of
    presence are skipped, unless `presence` is set."""

    presence = False

    def __init__(self, address, token=None, target="/ws", headers=(), timeout=30, receive_buffer=None,
                 wait=True):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self._received = bytearray()
        self._address, self._target = address, target
        self.pings = 0
        try:
            self.socket.connect(address)
            self.socket.sendall(handshake(target, token, headers))
            self.answer = self.read_answer() if wait else None
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, opcode, payload=b"", **how):
        self.socket.sendall(frame(opcode, payload, **how))

    def next_frame(self):
        """(opcode, payload) of the next frame."""
        first, second = self._read(2)
        if second & 0x80 or first & 0x70 or not first & 0x80:
            raise ValueError(f"not a frame that this server sends: {first:#x} {second:#x}")
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._read(8))
        return first & 0x0F, self._read(length)

    def next_event(self, within=30):
        """The next text message, as JSON. Answers pings on the way; raises Closed at the end."""
        self.socket.settimeout(within)
        while True:
            opcode, payload = self.next_frame()
            if opcode == TEXT:
                event = json.loads(payload)
                conformance.check_event(self._address, event)
                if self.presence or event["event"] not in PRESENCE:
                    return event
            if opcode == PING:
                self.pings += 1
                self.send(PONG, payload)
            if opcode == CLOSE:
                self.send(CLOSE, payload)
                raise Closed(struct.unpack("!H", payload[:2])[0] if payload else 1005)

    def close_code(self, within=10):
        """The close code, after skipping everything before it."""
        try:
            while True:
                self.next_event(within)
        except Closed as closed:
            return closed.code

    def read_answer(self):
        """The response to the handshake; without `wait` the caller calls this."""
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, _, rest = bytes(self._received).partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        fields = [line.partition(": ") for line in lines]
        self._received = bytearray(rest)
        answer = Answer(int(status.split()[1]), {name.lower(): value for name, _, value in fields}, b"")
        conformance.check_exchange(self._address, "GET", self._target, answer.status, answer.headers, None)
        return answer

    def _read(self, count):
        while len(self._received) < count:
            self._receive()
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken

    def _receive(self):
        try:
            piece = self.socket.recv(1 << 16)
        except ConnectionError:
            piece = b""
        if not piece:
            raise Closed(None)
        self._received += piece


class EventStream:
    """GET …/events/stream, line by line, without events of presence."""

    def __init__(self, address, workspace, last_event_id=None, token=None, timeout=30, receive_buffer=None):
        self._address = address
        self._wire = Wire(address, timeout=timeout, receive_buffer=receive_buffer)
        fields = [("Host", "test"), ("Authorization", f"Bearer {token or workspace.token}")]
        if last_event_id is not None:
            fields.append(("Last-Event-ID", str(last_event_id)))
        self._wire.send(request_head("GET", f"/workspaces/{workspace.id}/events/stream", fields))
        self._lines = self._wire.socket.makefile("rb")
        self.status = int(self._lines.readline().split()[1])
        self.headers = {}
        while line := self._lines.readline().strip():
            name, _, value = line.decode().partition(": ")
            self.headers[name.lower()] = value
        conformance.check_exchange(address, "GET", f"/workspaces/{workspace.id}/events/stream", self.status, self.headers,
                                   None)
        self.retry = None
        self.comments = 0
        self.last_id = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.close()
        self._wire.close()

    def next_event(self, within=30):
        """The next event with data, as JSON; its id is last_id. Raises Closed at the end."""
        self._wire.socket.settimeout(within)
        data = []
        while True:
            line = self._lines.readline()
            if not line:
                raise Closed(None)
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "data":
                data.append(value)
            elif name == "id":
                self.last_id = int(value)
            elif name == "retry":
                self.retry = int(value)
            elif line == b"\n" and data:
                event = json.loads("\n".join(data))
                conformance.check_event(self._address, event)
                if event["event"] not in PRESENCE:
                    return event
                data = []
            elif line.startswith(b":"):
                self.comments += 1


class Listener:
    """Follows a WebSocket or an EventStream on a thread: (seq, arrival time, event) in `heard`."""

    def __init__(self, source, on_event=None):
        self.source = source
        self.heard = []
        self.ended = None  # the Closed exception, at the end
        self._on_event = on_event
        self._leaving = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._leaving = True
        sock = getattr(self.source, "socket", None) or self.source._wire.socket
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._thread.join()
        self.source.__exit__()

    def seqs(self):
        return [seq for seq, _, _ in self.heard]

    def _run(self):
        try:
            while True:
                event = self.source.next_event(within=120)
                came = time.monotonic()
                if self._on_event:
                    self._on_event(event)
                self.heard.append((event["payload"].get("seq"), came, event))
        except Closed as closed:
            self.ended = closed
        except OSError:
            if not self._leaving:
                raise
