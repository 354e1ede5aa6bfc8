"""For bench/run content: how long a client waits for the first byte of a file. It should not depend on the size."""

import socket
import statistics
import time

TIMES = 40


def wait_for_first(connection, path, token):
    """Asks for a file and returns the milliseconds until the first byte of its body was there, having read all of it."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    began = time.monotonic()
    connection.sendall(request.encode())
    got = b""
    while b"\r\n\r\n" not in got or got.endswith(b"\r\n\r\n"):
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("the server has closed the connection")
        got += piece
    waited = time.monotonic() - began
    head, _, body = got.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise ConnectionError(head.decode(errors="replace"))
    lines = (line.split(b":", 1) for line in head.split(b"\r\n")[1:])
    left = next(int(value) for name, value in lines if name.lower() == b"content-length") - len(body)
    while left > 0:
        left -= len(connection.recv(min(left, 1 << 20)))
    return waited * 1000


def medians(address, files):
    """`files` has a path and a token for each name; they take turns on one connection."""
    host, port = address.rsplit(":", 1)
    found = {name: [] for name in files}
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(TIMES):
            for name, (path, token) in files.items():
                found[name].append(wait_for_first(connection, path, token))
    return {name: statistics.median(times) for name, times in found.items()}
