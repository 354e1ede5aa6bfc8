"""Stands between the server and an S3 engine, and spoils the exchanges that a test names."""

import http.client
import http.server
import threading
import time
import urllib.parse


class Fault:
    """For the next `times` requests with this method, and with `mark` in their target."""

    def __init__(self, action, method=None, times=1, mark=""):
        self.action, self.method, self.times, self.mark = action, method, times, mark
        self.met = 0

    def takes(self, request):
        if self.met >= self.times or self.method not in (None, request.command) or self.mark not in request.path:
            return False
        self.met += 1
        return True


def error(status, code):
    """Answers without asking the engine."""
    def action(request, _body, _forward):
        text = f"<Error><Code>{code}</Code></Error>".encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)
    return action


def cut_request(request, body, _forward):
    """The connection breaks while the body is on its way; the engine gets a part of it."""
    connection = http.client.HTTPConnection(request.server.upstream, timeout=60)
    connection.putrequest(request.command, request.path, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(body[:len(body) // 2])
    connection.close()
    request.close_connection = True
    request.connection.close()


def cut_answer(request, _body, forward):
    """The engine has done it, and half of what it says arrives."""
    status, headers, answer = forward()
    request.pass_on(status, headers, answer[:len(answer) // 2], length=len(answer) or 1)
    request.close_connection = True


def no_answer(request, _body, forward):
    """The engine has done it, and nothing of what it says arrives."""
    forward()
    request.close_connection = True


def wrong_etag(request, _body, forward):
    status, headers, answer = forward()
    headers = [(name, '"0123456789abcdef0123456789abcdef"' if name.lower() == "etag" else value)
               for name, value in headers]
    request.pass_on(status, headers, answer)


def wrong_bytes(request, _body, forward):
    status, headers, answer = forward()
    request.pass_on(status, headers, bytes([answer[0] ^ 1]) + answer[1:])


def shorter(request, _body, forward):
    """An answer that looks whole and is not."""
    status, headers, answer = forward()
    request.pass_on(status, headers, answer[:-1])


def stall_after(size):
    """The rest of the answer comes only once the proxy is healed."""
    def action(request, _body, forward):
        status, headers, answer = forward()
        request.pass_on(status, headers, answer[:size], length=len(answer))
        request.server.released.wait(120)
        request.wfile.write(answer[size:])
    return action


class Slow:
    """Takes its time, and knows how many it has kept waiting at once."""

    __name__ = "slow"

    def __init__(self, seconds):
        self._seconds, self._lock = seconds, threading.Lock()
        self.now = self.most = 0

    def __call__(self, request, _body, forward):
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self._seconds)
        said = forward()
        with self._lock:
            self.now -= 1
        request.pass_on(*said)


def hang(request, _body, _forward):
    request.server.released.wait(120)
    request.close_connection = True


class _Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.lock:
            self.server.seen.append((self.command, self.path, len(body)))
            self.server.traces.append((self.command, self.headers.get("traceparent")))
            fault = next((each for each in self.server.faults if each.takes(self)), None)
        if fault:
            return fault.action(self, body, lambda: self.forward(body))
        self.pass_on(*self.forward(body))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

    def forward(self, body):
        connection = http.client.HTTPConnection(self.server.upstream, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        said = answer.status, answer.getheaders(), answer.read()
        connection.close()
        return said

    def pass_on(self, status, headers, body, length=None):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        if self.command == "HEAD":
            length = dict((name.lower(), value) for name, value in headers).get("content-length", 0)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # a broken connection is what this is for


class S3Proxy:
    """Listens on a loopback port. away() closes it, back() opens it again on the same one."""

    def __init__(self, endpoint):
        self._upstream = urllib.parse.urlsplit(endpoint).netloc
        self._port = 0
        self._server = None
        self.seen = []
        self.traces = []  # method and traceparent of each
        self.back()
        self.endpoint = f"http://127.0.0.1:{self._port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._server:
            self.away()

    def back(self):
        self._server = _Server(("127.0.0.1", self._port), _Request)
        self._port = self._server.server_address[1]
        self._server.upstream = self._upstream
        self._server.lock = threading.Lock()
        self._server.released = threading.Event()
        self._server.faults, self._server.seen, self._server.traces = [], self.seen, self.traces
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def away(self):
        self._server.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._server = None

    def spoil(self, *faults):
        with self._server.lock:
            self._server.faults = list(faults)
            self.seen.clear()
            self.traces.clear()
        return faults[0] if faults else None

    def heal(self):
        self._server.released.set()
        self.spoil()
        time.sleep(0.05)
        self._server.released.clear()
