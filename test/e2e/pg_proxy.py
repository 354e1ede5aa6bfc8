"""A proxy in front of PostgreSQL that parses the protocol and can fail at the worst moment: when a
transaction is about to COMMIT, or has just committed and no reply was sent."""

import asyncio
import enum
import struct
import threading

from pg_client import format_conninfo, parse_conninfo
from proxy import BLOCK, Link, Proxy


def upstream_of(conninfo):
    """PostgreSQL's address, in the form that Proxy expects."""
    parts = parse_conninfo(conninfo)
    host, port = parts["host"], parts.get("port", "5432")
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, int(port))


class Strike(enum.Enum):
    BEFORE_COMMIT = "cut before COMMIT"  # the whole transaction arrives except COMMIT
    AFTER_COMMIT = "cut after COMMIT"  # PostgreSQL has committed; its reply is dropped
    WITH_COMMIT = "cut with COMMIT"  # COMMIT is sent and the link cut at once: either may have happened
    HANG_BEFORE_COMMIT = "half-open before COMMIT"  # as the first two, but without closing the link
    HANG_AFTER_COMMIT = "half-open after COMMIT"
    HOLD_BEFORE_COMMIT = "hold COMMIT"  # COMMIT waits for release(), as if its sender were frozen


CUTS = tuple(strike for strike in Strike if strike is not Strike.HOLD_BEFORE_COMMIT)


_HANGING = (Strike.HANG_BEFORE_COMMIT, Strike.HANG_AFTER_COMMIT)
_BEFORE = (Strike.BEFORE_COMMIT, Strike.HANG_BEFORE_COMMIT)


class Messages:
    """Splits a protocol stream into whole messages: (type, bytes). A client's first message has no type; it
    is returned as b''."""

    def __init__(self, typed):
        self._typed = typed
        self._buffer = bytearray()

    def feed(self, data):
        self._buffer += data
        while True:
            lead = 1 if self._typed else 0
            if len(self._buffer) < lead + 4:
                return
            (length,) = struct.unpack_from("!I", self._buffer, lead)
            if len(self._buffer) < lead + length:
                return
            message = bytes(self._buffer[:lead + length])
            del self._buffer[:lead + length]
            yield message[:lead], message
            self._typed = True


class PostgresLink(Link):
    def __init__(self, *ends):
        super().__init__(*ends)
        self._statements = {}  # prepared on this link: name → text
        self._marked = False  # the current transaction is a target
        self._awaiting = None  # the strike that waits for PostgreSQL to confirm COMMIT

    async def to_server(self):
        messages = Messages(typed=False)
        while data := await self.client[0].read(BLOCK):
            ready = bytearray()
            for kind, message in messages.feed(data):
                strike = self._look(kind, message)
                if strike is Strike.HOLD_BEFORE_COMMIT:
                    await self.pass_on(bytes(ready), self.server[1])
                    ready.clear()
                    await self._hold()
                    strike = None
                if strike in _BEFORE:
                    await self.pass_on(bytes(ready), self.server[1])
                    return await self._strike(strike)
                if strike:
                    # COMMIT needs Execute and Sync; without them it would never run.
                    tail = message + b"E\x00\x00\x00\x09\x00\x00\x00\x00\x00S\x00\x00\x00\x04"
                    self._awaiting = strike
                    await self.pass_on(bytes(ready) + (message if kind == b"Q" else tail), self.server[1])
                    if strike is Strike.WITH_COMMIT:
                        return await self._strike(strike)
                    return await self._ended.wait()
                ready += message
            await self.pass_on(bytes(ready), self.server[1])

    async def to_client(self):
        messages = Messages(typed=True)
        while data := await self.server[0].read(BLOCK):
            if self._awaiting is None:
                for _ in messages.feed(data):
                    pass
                await self.pass_on(data, self.client[1])
                continue
            for kind, message in messages.feed(data):
                # ReadyForQuery alone means that an earlier statement had failed and COMMIT was skipped.
                if kind == b"Z" or (kind == b"C" and message[5:] == b"COMMIT\x00"):
                    return await self._strike(self._awaiting)

    async def _strike(self, strike):
        self.proxy.struck.set()
        if strike in _HANGING:
            # Everything the server still sends is discarded, as on a dead line.
            while await self.client[0].read(BLOCK):
                pass
            await self._ended.wait()
        self.end()

    async def _hold(self):
        self.proxy.struck.set()
        while not self.proxy.released.is_set():
            await asyncio.sleep(0.01)

    def _look(self, kind, message):
        """Tracks the statements on this link. Returns the strike that is due at this message, if it is the
        COMMIT waited for."""
        text = self._text_of(kind, message)
        if text is None:
            return None
        if text.startswith("BEGIN"):
            self._marked = False
        if self.proxy.mark in text:
            self._marked = True
        if text != "COMMIT" or not self._marked:
            return None
        self._marked = False
        return self.proxy.take_strike()

    def _text_of(self, kind, message):
        """The SQL that a message executes, if any."""
        if kind == b"P":
            name, text = message[5:].split(b"\x00", 2)[:2]
            self._statements[name] = text.decode().strip()
        elif kind == b"B":
            _, name = message[5:].split(b"\x00", 2)[:2]
            return self._statements.get(name)
        elif kind == b"Q":
            return message[5:-1].decode().strip()
        return None


class PostgresProxy(Proxy):
    """In front of the database of a conninfo; `conninfo` connects through the proxy. It strikes at
    transactions that run a statement with `mark` in its text; by default those that publish activity."""

    link = PostgresLink

    def __init__(self, conninfo, mark="publish_counted"):
        self.mark = mark
        self._guard = threading.Lock()
        self._due = None
        self.struck, self.released = threading.Event(), threading.Event()
        super().__init__(upstream_of(conninfo))
        here = {"host": "127.0.0.1", "port": str(self.port), "sslmode": "disable", "gssencmode": "disable"}
        self.conninfo = format_conninfo(parse_conninfo(conninfo) | here)

    def arm(self, strike):
        """Strikes once, at the next COMMIT of such a transaction; then `struck` is set."""
        with self._guard:
            self.struck.clear()
            self.released.clear()
            self._due = strike

    def release(self):
        """Forwards a COMMIT that is held."""
        self.released.set()

    def take_strike(self):
        with self._guard:
            due, self._due = self._due, None
            return due
