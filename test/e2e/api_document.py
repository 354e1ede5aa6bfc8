"""The server's OpenAPI document, and whether an answer is one that it promises."""

import functools
import json
import re
import subprocess
import urllib.parse

from json_schema import compile_schema, resolve

# They frame the message, and HTTP itself says what they mean. `content` documents the media type.
FRAMING = {"date", "connection", "content-length", "transfer-encoding", "content-type"}
LARGEST_PARSED = 4 << 20
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Undocumented(AssertionError):
    """The server answered what its document does not say. Remembered, because a thread may be the one to see it."""

    found = []

    def __init__(self, text):
        super().__init__(text)
        self.found.append(text)


class Response:
    """One answer of the document."""

    def __init__(self, said, document):
        headers = {name.lower(): resolve(header["$ref"], document) if "$ref" in header else header
                   for name, header in said.get("headers", {}).items()}
        self._headers = {name: compile_schema(header["schema"], document) for name, header in headers.items()}
        self._required = [name for name, header in headers.items() if header.get("required")]
        self._content = {kind: compile_schema(media.get("schema", {}), document)
                         for kind, media in said.get("content", {}).items()}
        self._seen = set()

    def complaint(self, headers, body):
        """`body` is None where it was not read."""
        for name in self._required:
            if name not in headers:
                return f"it has no {name}"
        for name, value in headers.items():
            if name not in FRAMING:
                check = self._headers.get(name)
                wrong = check(value) if check else "is undocumented"
                if wrong:
                    return f"the header {name} {wrong}"
        return None if body is None else self._complaint_of_body(headers.get("content-type", ""), body)

    def _complaint_of_body(self, kind, body):
        if not self._content:
            return f"it has a body: {body[:80]}" if body else None
        check = self._content.get(kind.partition(";")[0].strip()) or self._content.get("*/*")
        if not check:
            return f"its media type is undocumented: {kind!r}"
        if kind != "application/json" or "*/*" in self._content or body in self._seen or len(body) > LARGEST_PARSED:
            return None
        wrong = check(json.loads(body))
        if not wrong and len(body) < 1000:
            if len(self._seen) > 1000:
                self._seen.clear()
            self._seen.add(body)
        return wrong


class ApiDocument:
    def __init__(self, text):
        self.document = json.loads(text)
        self._responses = {}
        self._paths = [(path.split("/")[1:], item) for path, item in self.document["paths"].items()]
        # The most literal pattern wins, from the left, as in the server.
        self._paths.sort(key=lambda entry: [segment.startswith("{") for segment in entry[0]])
        self._found = {}
        self._unrouted = self.document["x-unrouted"]["responses"]
        self._event = compile_schema({"$ref": "#/components/schemas/event"}, self.document)

    def check(self, method, target, status, headers, body, forwarding=False):
        """Fails unless this is a documented answer. Header names are in lower case; `body` is None where there is
        none to read."""
        responses = self._responses_of(method, target)
        said = responses.get(str(status))
        wrong = self._response(said).complaint(headers, body) if said else "the status is undocumented"
        if wrong and forwarding and "default" in responses:
            wrong = self._response(responses["default"]).complaint(headers, body)
        if wrong:
            raise Undocumented(f"{status} to {method} {target[:200]}: {wrong}\n{headers}\n{(body or b'')[:500]}")

    def check_without_request(self, status, headers, body):
        """The answer to what was no whole request, or none that could be told from the bytes: then it is one of some route."""
        if said := self._unrouted.get(str(status)):
            wrong = self._response(said).complaint(headers, body)
        else:
            wrong = self._complaint_of_every_route(str(status), headers, body)
        if wrong:
            raise Undocumented(f"{status} to what is no request: {wrong}\n{headers}\n{(body or b'')[:500]}")

    def check_event(self, event):
        wrong = self._event(event)
        if wrong:
            raise Undocumented(f"an undocumented event: {wrong}\n{event!r:.500}")

    def _complaint_of_every_route(self, status, headers, body):
        """What the last one has against it; None if one has nothing."""
        wrong = "the status is undocumented"
        for _, item in self._paths:
            for operation in item.values():
                if said := operation.get("responses", {}).get(status):
                    wrong = self._response(said).complaint(headers, body)
                    if not wrong:
                        return None
        return wrong

    def _response(self, said):
        reference = said["$ref"]
        if reference not in self._responses:
            self._responses[reference] = Response(resolve(reference, self.document), self.document)
        return self._responses[reference]

    def _responses_of(self, method, target):
        path = target.partition("?")[0]
        known = _UUID.sub("{}", path)
        found = self._found.get((method, known))
        if not found:
            found = self._find_responses(method, path)
            if len(self._found) < 10_000:
                self._found[method, known] = found
        return found

    def _find_responses(self, method, path):
        if "://" in path:
            path = "/" + path.split("://", 1)[1].partition("/")[2]
        path = "/healthz" if path == "*" else urllib.parse.unquote(path)  # OPTIONS * asks about the server as a whole
        segments = path.split("/")[1:]
        for pattern, item in self._paths:
            if len(pattern) == len(segments) and all(part.startswith("{") or part == segment
                                                     for part, segment in zip(pattern, segments)):
                operation = item.get(method.lower())
                return operation["responses"] if operation else self._unrouted
        return self._unrouted


@functools.cache
def load(binary):
    """The document of a program, with its default settings: limits are not what answers are checked for."""
    done = subprocess.run([binary, "openapi"], capture_output=True, text=True, timeout=60, check=True)
    return ApiDocument(done.stdout)
