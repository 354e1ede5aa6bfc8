#!/usr/bin/env python3
"""An uploaded file, opened in a real browser: it is downloaded and never executed."""

import functools
import http.server
import unittest

from browser import Recorder, page_at, serving, visit
from http_wire import Answer
from inbox_case import InboxCase

# Both notify this server if they get to run: by script, and by an image that only a rendered page requests.
HTML = """<!doctype html><body onload="new Image().src='{url}onload'"><script>
fetch('{url}script'); document.title = 'ran'; location = '{url}moved'</script><img src="{url}image"></body>"""
SVG = """<svg xmlns="http://www.w3.org/2000/svg" onload="fetch('{url}onload')">
<script>fetch('{url}script')</script><image href="{url}image"/></svg>"""
# Tries every way in which a page of the same origin can make a browser run something, gives all of them three
# seconds, and reports the end. The browser's own completion is not used: a page with a download may never
# complete.
HOST = """<!doctype html><body><script>setTimeout(() => fetch('/over'), 3000)</script>
<iframe src="{path}"></iframe><object data="{path}"></object><embed src="{path}">
<img src="{path}"><script src="{path}"></script></body>"""
# Runs without any of our header fields: proof that the browser works and the witness records requests.
CONTROL = "control"


def witness_page(path):
    return HTML.format(url="/heard-") if path == "/" + CONTROL else ""


class Relay(http.server.BaseHTTPRequestHandler):
    """A browser that opens an address sends no bearer token, so this adds it and forwards the response, field
    by field. Under /host?PATH it serves a page that embeds the path."""

    def __init__(self, fetch, *arguments):
        self.fetch = fetch
        super().__init__(*arguments)

    def do_GET(self):
        if self.path.startswith("/host?"):
            page = HOST.format(path=self.path.partition("?")[2]).encode()
            answer = Answer(200, {"content-type": "text/html", "content-length": str(len(page))}, page)
        else:
            answer = self.fetch(self.path)
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name not in ("connection", "date"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_):
        pass


class Browser(InboxCase):
    def test_uploaded_pages_and_pictures_run_no_script(self):
        heard, fetched = [], []

        def fetch(path):
            fetched.append(path)
            return self.get(path)

        with serving(functools.partial(Recorder, heard, witness_page)) as witness, \
                serving(functools.partial(Relay, fetch)) as relay:
            visit(witness + CONTROL, lambda: any("heard-script" in path for path in heard), "the browser runs a script")
            heard.clear()
            for name, mimetype, text in (("page.html", "text/html", HTML), ("picture.svg", "image/svg+xml", SVG),
                                         ("sniff.txt", "text/plain", HTML)):
                with self.subTest(name=name):
                    path = self.content_path(self.stage(text.format(url=witness).encode(), name, mimetype))
                    visit(f"{relay}host?{path}", lambda: "/over" in fetched, "the page had its time")
                    fetched.remove("/over")
                    self.assertGreater(fetched.count(path), 1)
                    self.assertEqual(heard, [])

    def test_nor_when_the_download_is_forced_into_a_page(self):
        """Without Content-Disposition, as a careless proxy might leave it: the sandbox still holds."""
        heard = []

        def without_disposition(path):
            answer = self.get(path)
            answer.headers.pop("content-disposition")
            return answer

        with serving(functools.partial(Recorder, heard, witness_page)) as witness:
            for name, mimetype, text in (("page.html", "text/html", HTML), ("picture.svg", "image/svg+xml", SVG)):
                with self.subTest(name=name), serving(functools.partial(Relay, without_disposition)) as relay:
                    file = self.stage(text.format(url=witness).encode(), name, mimetype)
                    page = page_at(relay.rstrip("/") + self.content_path(file))
                    self.assertIn("script", page, "the browser shows the page this time")
                    self.assertEqual(heard, [])


if __name__ == "__main__":
    unittest.main()
