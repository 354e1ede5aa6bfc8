"""A real browser, and web servers for it to visit."""

import contextlib
import http.server
import os
import signal
import subprocess
import tempfile
import threading

from http_wire import await_true


class Recorder(http.server.BaseHTTPRequestHandler):
    """Records the paths it is asked for, and serves the page that `page(path)` returns."""

    def __init__(self, heard, page, *arguments):
        self.heard = heard
        self.page = page
        super().__init__(*arguments)

    def do_GET(self):
        self.heard.append(self.path)
        page = self.page(self.path).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(handler):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@contextlib.contextmanager
def browsing(*arguments, **how):
    """A browser with its own profile, closed at the end of the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen([*BROWSER, f"--user-data-dir={profile}", *arguments], start_new_session=True,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile}, **how)
        try:
            yield browser
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(browser.pid, signal.SIGKILL)
            browser.communicate()


def visit(url, until, what):
    with browsing(url, stdout=subprocess.DEVNULL):
        await_true(until, 60, what)


def page_at(url, *arguments):
    """The DOM as the browser built it, after all of its content could run."""
    with browsing("--virtual-time-budget=3000", "--dump-dom", *arguments, url, stdout=subprocess.PIPE,
                  text=True) as browser:
        return browser.communicate(timeout=90)[0]
