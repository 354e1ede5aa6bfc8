"""Checks every exchange with a server under test against the document that it serves. The wire calls this; tests need
not. An answer that is undocumented, in its status, a header or a member of its body, fails the test."""

import re

import api_document
import contract_client

_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP/1\.[01]")
_LONGEST_HEAD = 64 * 1024
_PIECE = 4096  # bodies of megabytes are passed over, not copied

_served = {}  # (host, port) → the program that listens there

# Set by tests with workspaces that are called: what those answer is passed on, whatever it is.
forwarding = False


def begin(address, binary):
    """From here on a server listens on this address."""
    if address:
        _served[address] = binary


def end(address):
    _served.pop(address, None)


def assert_documented():
    """Fails if an answer was found undocumented, also if nobody heard of it."""
    found = api_document.Undocumented.found
    told = "\n".join(found[:5])
    found.clear()
    if told:
        raise AssertionError("undocumented answers:\n" + told)


def follow(address):
    """Follows the requests of one connection; None if no server under test listens there."""
    return Follower(address) if address in _served else None


def check_exchange(address, method, target, status, headers, body):
    if binary := _served.get(address):
        fields = {name.lower(): value for name, value in headers.items()}
        api_document.load(binary).check(method, target, status, fields, None if method == "HEAD" else body, forwarding)


def check_event(address, event):
    if binary := _served.get(address):
        api_document.load(binary).check_event(event)


contract_client.Client.observe = staticmethod(check_exchange)


class Follower:
    """Reads the bytes that a test sends just well enough to know which request the next answer is for. Where they are
    not clear enough for that, answers are only checked as such to unclear bytes."""

    def __init__(self, address):
        self._document = api_document.load(_served[address])
        self._asked = []
        self._bytes = bytearray()
        self._body = 0  # bytes of it to come
        self._read = self._read_head
        self._lost = False

    def sent(self, data):
        left = memoryview(data)
        while left and not self._lost:
            skipped = min(self._body, len(left))
            self._body -= skipped
            self._bytes += left[skipped:skipped + _PIECE]
            left = left[skipped + _PIECE:]
            while not self._lost and self._body == 0 and self._bytes and self._read():
                taken = min(self._body, len(self._bytes))
                del self._bytes[:taken]
                self._body -= taken

    def answered(self, answer, head_only=False):
        if answer.status == 100:
            return
        body = None if head_only else answer.body
        if not self._asked:
            self._document.check_without_request(answer.status, answer.headers, body)
            return
        method, target = self._asked.pop(0)
        if method == "HEAD":
            body = None
        self._document.check(method, target, answer.status, answer.headers, body, forwarding)

    def _take_line(self, mark):
        end = self._bytes.find(mark)
        if end < 0:
            self._lost = len(self._bytes) > _LONGEST_HEAD
            return None
        line = bytes(self._bytes[:end])
        del self._bytes[:end + len(mark)]
        return line

    def _read_head(self):
        while self._bytes.startswith(b"\r\n"):
            del self._bytes[:2]
        head = self._take_line(b"\r\n\r\n")
        if head is None:
            return False
        line, *fields = head.split(b"\r\n")
        request = _LINE.fullmatch(line)
        names = [field.partition(b":")[0].lower() for field in fields]
        values = {name: field.partition(b":")[2].strip() for name, field in zip(names, fields)}
        length, coding = values.get(b"content-length", b"0"), values.get(b"transfer-encoding", b"").lower()
        framing = names.count(b"content-length") + names.count(b"transfer-encoding")
        if not request or not length.isdigit() or coding not in (b"", b"chunked") or framing > 1:
            self._lost = True
            return False
        self._asked.append((request[1].decode(), request[2].decode()))
        if coding:
            self._read = self._read_chunk
        else:
            self._body = int(length)
        return True

    def _read_chunk(self):
        line = self._take_line(b"\r\n")
        if line is None:
            return False
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            self._lost = True
            return False
        if size:
            self._body = size + 2
        else:
            self._read = self._read_trailers
        return True

    def _read_trailers(self):
        line = self._take_line(b"\r\n")
        if line == b"":
            self._read = self._read_head
        return line is not None
