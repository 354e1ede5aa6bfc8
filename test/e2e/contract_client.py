"""A client of the wire contract, written from its text alone with Python's standard library. It shares no
code with the other tests, so that it fails where a third-party client would."""

import base64
import hashlib
import http.client
import json
import re
import uuid

URI = re.compile(r"platform-pending:([0-9a-f-]{36})/([0-9a-f-]{36})")


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:300]!r}")
        self.status = status
        self.body = body


class Client:
    """Acts for one workspace: registers, uploads, follows the feed, fetches and acks. `observe` is called with every
    exchange, for tests that have something to say about it."""

    observe = staticmethod(lambda address, method, target, status, headers, body: None)

    def __init__(self, address, workspace=None, token=None):
        self._address = address
        self._connection = None
        self.workspace = workspace or str(uuid.uuid4())
        self.token = token

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def call(self, method, path, body=None, headers=None, target="/workspaces/{}"):
        """Returns (status, headers, body) of one exchange; a connection that has died meanwhile is reopened
        once."""
        fields = dict(headers or {})
        if self.token:
            fields["Authorization"] = "Bearer " + self.token
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            fields["Content-Type"] = "application/json"
        fresh = self._connection is None
        if fresh:
            self._connection = http.client.HTTPConnection(*self._address, timeout=70)
        try:
            self._connection.request(method, target.format(self.workspace) + path, body, fields)
            answer = self._connection.getresponse()
            told = answer.read()
            self.observe(self._address, method, target.format(self.workspace) + path, answer.status, answer.headers, told)
            return answer.status, answer.headers, told
        except (ConnectionError, http.client.HTTPException):
            self.close()
            if fresh:
                raise
            return self.call(method, path, body, headers, target)

    def ask(self, method, path, body=None, headers=None, target="/workspaces/{}"):
        status, _, told = self.call(method, path, body, headers, target)
        if status != 200:
            raise Refused(status, told)
        return json.loads(told)

    def register(self):
        told = self.ask("POST", "", {"id": self.workspace, "delivery_mode": "poll"}, target="/registry/register")
        self.token = told.get("auth_token", self.token)
        return told

    def upload(self, files):
        """files: (name, mimetype, bytes); returns the manifest of each."""
        boundary = uuid.uuid4().hex
        body = bytearray()
        for name, mimetype, content in files:
            body += (f"--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n"
                     f"Content-Type: {mimetype}\r\n\r\n").encode() + content + b"\r\n"
        body += f"--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        return self.ask("POST", "/chat/uploads", bytes(body), {"Content-Type": kind})["files"]

    def say(self, text, uris=()):
        """Sends a chat message that references staged files."""
        parts = [{"kind": "text", "text": text}] + [{"kind": "file", "file": {"uri": uri}} for uri in uris]
        return self.ask("POST", "/a2a", {"jsonrpc": "2.0", "id": 1, "method": "message/send",
                                         "params": {"message": {"role": "user", "parts": parts}}})

    def poll(self, cursor=None, wait=0, limit=100):
        """Returns the rows after a cursor (an activity id; None is the start), oldest first."""
        start = f"since_id={cursor}" if cursor else "since_seq=0"
        return self.ask("GET", f"/activity?{start}&limit={limit}&wait={wait}")

    def follow(self, enough, wait=5, limit=100, cursor=None):
        """Yields rows one by one, until enough() is true and nothing is left to read."""
        while True:
            done = enough()
            rows = self.poll(cursor, 0 if done else wait, limit)
            if not rows and done:
                return
            for row in rows:
                yield row
                cursor = row["id"]

    def fetch(self, uri, piece=None):
        """Returns the bytes of a staged file, checked against both digests; in pieces by Range, if a size is
        given."""
        workspace, file = URI.fullmatch(uri).groups()
        if workspace != self.workspace:
            raise ValueError(f"not a file of ours: {uri}")
        path = f"/pending-uploads/{file}/content"
        if piece is None:
            status, headers, content = self.call("GET", path)
            if status != 200:
                raise Refused(status, content)
        else:
            content, headers = self._fetch_pieces(path, piece)
        digest = hashlib.sha256(content).digest()
        if headers["ETag"] != f'"{digest.hex()}"':
            raise ValueError(f"{uri} has the tag {headers['ETag']}")
        if headers["Repr-Digest"] != f"sha-256=:{base64.b64encode(digest).decode()}:":
            raise ValueError(f"{uri} has the digest {headers['Repr-Digest']}")
        return content

    def _fetch_pieces(self, path, piece):
        content, tag, total = bytearray(), None, None
        while total is None or len(content) < total:
            fields = {"Range": f"bytes={len(content)}-{len(content) + piece - 1}"}
            if tag:
                fields["If-Range"] = tag
            status, headers, got = self.call("GET", path, headers=fields)
            if status != 206:
                raise Refused(status, got)
            first, last, total = map(int, re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", headers["Content-Range"]).groups())
            if first != len(content) or last - first + 1 != len(got):
                raise ValueError(f"asked for {fields['Range']}, got {headers['Content-Range']} and {len(got)} bytes")
            tag = headers["ETag"]
            content += got
        return bytes(content), headers

    def ack(self, uri):
        file = URI.fullmatch(uri).group(2)
        return self.ask("POST", f"/pending-uploads/{file}/ack")

    def collect(self, enough, **how):
        """Follows the feed and reassembles every file that it announces: {name: bytes}; each is acked."""
        files = {}
        for row in self.follow(enough, **how):
            if row["method"] != "chat_upload_receive":
                continue
            manifest = row["request_body"]
            content = self.fetch(manifest["uri"], piece=None if manifest["size"] < 300_000 else 1 << 20)
            if len(content) != manifest["size"] or hashlib.sha256(content).hexdigest() != manifest["sha256"]:
                raise ValueError(f"{manifest} and {len(content)} bytes do not agree")
            files[manifest["name"]] = content
            self.ack(manifest["uri"])
        return files
