"""multipart/form-data bodies, as browsers write them and as they never would."""

import random

CHROME = "----WebKitFormBoundary7MA4YWxkTrZu0gW3"
FIREFOX = "---------------------------41184676334192821401297113216"
PLAIN = "b"


def part(content, filename="a.txt", content_type="text/plain", name="files", extra=()):
    """One part. Text is written as UTF-8, without escapes; None omits the parameter or header."""
    disposition = b"Content-Disposition: form-data"
    if name is not None:
        disposition += b'; name="' + _bytes(name) + b'"'
    if filename is not None:
        disposition += b'; filename="' + _bytes(filename) + b'"'
    lines = [disposition]
    if content_type is not None:
        lines.append(b"Content-Type: " + _bytes(content_type))
    lines += [_bytes(line) for line in extra]
    return raw_part(lines, content)


def raw_part(lines, content):
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n" + _bytes(content)


def form(*parts, boundary=PLAIN):
    delimiter = b"--" + boundary.encode()
    return b"".join(delimiter + b"\r\n" + each + b"\r\n" for each in parts) + delimiter + b"--\r\n"


def chunked(body, sizes):
    """The body in chunks of these sizes, repeated cyclically."""
    out, at, turn = bytearray(), 0, 0
    while at < len(body):
        piece = body[at:at + sizes[turn % len(sizes)]]
        out += b"%x\r\n" % len(piece) + piece + b"\r\n"
        at += len(piece)
        turn += 1
    return bytes(out) + b"0\r\n\r\n"


def noise(size, seed):
    """Bytes that no two files have in common and that can be reproduced from the seed."""
    return random.Random(seed).randbytes(size)


def _bytes(text):
    return text.encode() if isinstance(text, str) else text
