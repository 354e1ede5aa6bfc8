"""Stands between a client and a server, passes requests on, and changes what comes back."""

import http.client
import http.server
import socket
import threading
import time

import conformance


class Reply:
    """The server's answer, for a rule to change. `cut_after` ends the connection after so many bytes of the
    body; `endless` repeats the body without end, in chunks."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body
        self.cut_after = None
        self.endless = False

    def replace(self, status, body=b"", **headers):
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.headers["Content-Length"] = str(len(body))


class Request:
    def __init__(self, method, path, headers):
        self.method, self.path, self.headers = method, path, headers
        self.time = time.monotonic()
        self.status = None


class LyingProxy:
    """`rule(request, reply)` may change the reply; it is called for one request at a time. `before(request)`
    may answer with a Reply, so that the server never sees the request."""

    def __init__(self, upstream, rule=None, before=None):
        self.upstream = upstream  # may be another one after a restart
        self.rule = rule or (lambda request, reply: None)
        self.before = before or (lambda request: None)
        self.requests = []
        lock = threading.Lock()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                size = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size)
                request = Request(self.command, self.path, dict(self.headers))
                with lock:
                    proxy.requests.append(request)
                    reply = proxy.before(request)
                if reply is None:
                    reply = self.ask_server(body)
                    with lock:
                        proxy.rule(request, reply)
                request.status = reply.status
                try:
                    self.send(reply)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = answer

            def ask_server(self, body):
                address = proxy.upstream
                link = http.client.HTTPConnection(*address, timeout=90)
                try:
                    headers = {name: value for name, value in self.headers.items() if name != "Host"}
                    link.request(self.command, self.path, body, headers)
                    got = link.getresponse()
                    data = got.read()
                    conformance.check_exchange(tuple(address), self.command, self.path, got.status, got.headers, data)
                    kept = {name: value for name, value in got.getheaders()
                            if name.lower() not in ("connection", "transfer-encoding")}
                    kept["Content-Length"] = str(len(data))
                    return Reply(got.status, kept, data)
                finally:
                    link.close()

            def send(self, reply):
                self.send_response_only(reply.status)
                if reply.endless:
                    reply.headers.pop("Content-Length", None)
                    reply.headers["Transfer-Encoding"] = "chunked"
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                while reply.endless:
                    self.wfile.write(b"%x\r\n" % len(reply.body) + reply.body + b"\r\n")
                if reply.cut_after is not None:
                    self.wfile.write(reply.body[:reply.cut_after])
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                self.wfile.write(reply.body)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass  # clients that go away are the point

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = self._server.server_address
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def seen(self, part, method=None):
        """The requests whose path has this in it."""
        return [each for each in self.requests if part in each.path and method in (None, each.method)]
