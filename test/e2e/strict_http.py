"""Parses requests exactly as the standard defines them. Whatever it accepts as a request, every parser
accepts as that request; where it stops, parsers may differ."""

import re

_TOKEN = rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+)"
_TEXT = rb"[\t\x20-\x7e\x80-\xff]*"
_LINE = re.compile(_TOKEN + rb" ([\x21-\x7e]+) HTTP/1\.[01]")
_FIELD = re.compile(_TOKEN + rb":(" + _TEXT + rb")")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;" + _TEXT + rb")?")
_ANSWER = re.compile(rb"HTTP/1\.1 ([2-5]\d\d) [^\r]*\r\n(.*?)\r\n\r\n", re.DOTALL)
_ID = re.compile(rb"(?im)^X-Request-Id: ([^\r\n]*)")


class Doubt(Exception):
    """Another parser might see something else here."""


class Unfinished(Exception):
    """The bytes end within a request."""


class Request:
    def __init__(self, method, target, fields, body):
        self.method, self.target, self.body = method.decode(), target.decode(), body
        self.id = dict(fields).get(b"x-request-id", b"").decode()

    def __repr__(self):
        return f"{self.method} {self.target[:80]} {self.id} +{len(self.body)}"


def read_requests(data):
    """(requests, what follows the last of them: None, Doubt or Unfinished)."""
    requests, at = [], 0
    while at < len(data):
        try:
            made, at = _read_request(data, at)
        except (Doubt, Unfinished) as end:
            return requests, type(end)
        requests.append(made)
    return requests, None


def read_answers(data):
    """(status, request id or None) of every final response in the bytes."""
    named = [(status, _ID.search(fields)) for status, fields in _ANSWER.findall(data)]
    return [(int(status), name and name.group(1).decode()) for status, name in named]


def _read_request(data, at):
    line, at = _read_line(data, at)
    fields, at = _read_fields(data, at)
    parsed = _LINE.fullmatch(line)
    if not parsed:
        raise Doubt(line)
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1 or codings not in ([], [b"chunked"]):
        raise Doubt(fields)
    if codings:
        body, at = _read_chunks(data, at)
    else:
        body, at = _read_length(data, at, *lengths)
    return Request(*parsed.groups(), fields, body), at


def _read_length(data, at, length=b"0"):
    if not length.isdigit():
        raise Doubt(length)
    return _read_bytes(data, at, int(length))


def _read_chunks(data, at):
    body = b""
    while True:
        line, at = _read_line(data, at)
        parsed = _CHUNK.fullmatch(line)
        if not parsed:
            raise Doubt(line)
        size = int(parsed.group(1), 16)
        if size == 0:
            _, at = _read_fields(data, at)
            return body, at
        piece, at = _read_bytes(data, at, size)
        end, at = _read_bytes(data, at, 2)
        if end != b"\r\n":
            raise Doubt(end)
        body += piece


def _read_fields(data, at):
    fields = []
    while True:
        line, at = _read_line(data, at)
        if not line:
            return fields, at
        parsed = _FIELD.fullmatch(line)
        if not parsed:
            raise Doubt(line)
        fields.append((parsed.group(1).lower(), parsed.group(2).strip(b" \t")))


def _read_line(data, at):
    end = data.find(b"\r\n", at)
    if end < 0:
        raise Unfinished
    return data[at:end], end + 2


def _read_bytes(data, at, count):
    if len(data) - at < count:
        raise Unfinished
    return data[at:at + count], at + count
