"""A small PostgreSQL client: one session, plain SQL, rows of text. The tests inspect the database with it, so
that they share no code with the server."""

import base64
import hashlib
import hmac
import secrets
import socket
import struct
import threading


class DatabaseError(Exception):
    """An error reported by PostgreSQL; `sqlstate` is its code."""

    def __init__(self, fields):
        super().__init__(fields.get("M", "unknown error"))
        self.sqlstate = fields.get("C", "")


def parse_conninfo(text):
    """`key=value key=value` as a dictionary; no quoting, the tests need none."""
    return dict(item.split("=", 1) for item in text.split())


def format_conninfo(parts):
    return " ".join(f"{key}={value}" for key, value in parts.items())


class Session:
    """One connection. `query` returns the rows of the last statement that had any, as tuples of str or None.
    May be shared by threads; one query at a time."""

    def __init__(self, conninfo, timeout=30):
        self._info = parse_conninfo(conninfo)
        self._guard = threading.Lock()
        self._socket = self._connect(timeout)
        self._received = bytearray()
        try:
            self._start()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self._socket.sendall(b"X\x00\x00\x00\x04")
        except OSError:
            pass
        self._socket.close()

    def query(self, sql):
        with self._guard:
            body = sql.encode() + b"\x00"
            self._socket.sendall(b"Q" + struct.pack("!I", len(body) + 4) + body)
            return self._read_rows()

    def value(self, sql):
        """The first column of the first row, or None if there is no row."""
        rows = self.query(sql)
        return rows[0][0] if rows else None

    def _connect(self, timeout):
        host, port = self._info.get("host", "127.0.0.1"), self._info.get("port", "5432")
        if host.startswith("/"):
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(timeout)
            try:
                link.connect(f"{host}/.s.PGSQL.{port}")
            except OSError:
                link.close()
                raise
            return link
        return socket.create_connection((host, int(port)), timeout=timeout)

    def _start(self):
        user = self._info["user"]
        words = ["user", user, "database", self._info.get("dbname", user), "application_name", "e2e", ""]
        body = struct.pack("!I", 196608) + "\x00".join(words).encode() + b"\x00"
        self._socket.sendall(struct.pack("!I", len(body) + 4) + body)
        self._read_rows()

    def _read_rows(self):
        rows, failure = [], None
        while True:
            kind, body = self._read_message()
            if kind == b"T":
                rows = []
            elif kind == b"D":
                rows.append(_read_row(body))
            elif kind == b"E":
                failure = DatabaseError(_read_fields(body))
            elif kind == b"R":
                self._authenticate(body)
            elif kind == b"Z":
                if failure:
                    raise failure
                return rows

    def _authenticate(self, body):
        """Answers what PostgreSQL asks for: nothing, or SCRAM-SHA-256."""
        (kind,) = struct.unpack("!I", body[:4])
        if kind == 10:
            self._scram = Scram(self._info.get("password", ""))
            first = self._scram.first()
            self._send_password(b"SCRAM-SHA-256\x00" + struct.pack("!I", len(first)) + first)
        elif kind == 11:
            self._send_password(self._scram.final(body[4:]))
        elif kind not in (0, 12):
            raise DatabaseError({"M": f"PostgreSQL asks for authentication of kind {kind}"})

    def _send_password(self, body):
        self._socket.sendall(b"p" + struct.pack("!I", len(body) + 4) + body)

    def _read_message(self):
        head = self._read(5)
        (length,) = struct.unpack("!I", head[1:])
        return head[:1], self._read(length - 4)

    def _read(self, count):
        while len(self._received) < count:
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise ConnectionError("PostgreSQL closed the connection")
            self._received += piece
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken


class Scram:
    """The client's side of SCRAM-SHA-256 (RFC 5802), which trusts the server."""

    def __init__(self, password):
        self._password = password.encode()
        self._bare = "n=,r=" + secrets.token_urlsafe(18)

    def first(self):
        return ("n,," + self._bare).encode()

    def final(self, challenge):
        text = challenge.decode()
        fields = dict(item.split("=", 1) for item in text.split(","))
        salted = hashlib.pbkdf2_hmac("sha256", self._password, base64.b64decode(fields["s"]), int(fields["i"]))
        key = hmac.digest(salted, b"Client Key", "sha256")
        without_proof = "c=biws,r=" + fields["r"]
        signed = ",".join((self._bare, text, without_proof)).encode()
        signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
        proof = bytes(a ^ b for a, b in zip(key, signature))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()


def _read_row(body):
    (count,) = struct.unpack("!H", body[:2])
    values, at = [], 2
    for _ in range(count):
        (length,) = struct.unpack("!i", body[at:at + 4])
        at += 4
        if length < 0:
            values.append(None)
            continue
        values.append(body[at:at + length].decode())
        at += length
    return tuple(values)


def _read_fields(body):
    fields = {}
    for field in body.split(b"\x00"):
        if field:
            fields[chr(field[0])] = field[1:].decode(errors="replace")
    return fields
