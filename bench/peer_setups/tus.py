"""@tus/server with its file store: node/tus_server.mjs. Once as tus-js-client uses it by default, which creates an
upload with POST and sends its bytes with PATCH, and once with the bytes in the POST (creation-with-upload)."""

import os
import urllib.parse

from . import node_packages
from .peer import FILES_TO_FETCH, Load, Peer, as_line, remove_files

TOKEN = "a-token-of-the-bench"
AUTHORIZATION = "Authorization: Bearer " + TOKEN
METADATA = "Upload-Metadata: filename ZmlsZS5iaW4=,filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt"


class Tus(Peer):
    name = "tus"
    what = "@tus/server, file store; POST, then PATCH (tus-js-client's default)"
    kept = "page cache"
    durability = "no: 204 when the bytes are in the page cache; nothing is synced"
    protocol = "tus 1.0: POST, PATCH; GET"
    programs = {"node": "nodejs"}

    def start(self):
        node_packages.install()
        self.store = self.folder / "files"
        self.store.mkdir()
        self.run(["node", str(node_packages.FOLDER / "tus_server.mjs")], self.port, PORT=str(self.port),
                 DIRECTORY=str(self.store), TOKEN=TOKEN, NODE_ENV="production")

    def _create(self, size, *more):
        return as_line("POST", "/files", AUTHORIZATION, "Tus-Resumable: 1.0.0", f"Upload-Length: {size}", METADATA,
                       *more)

    def uploads(self, size, count):
        return Load(self.port, [self._create(size)], "raw", patch=True)

    def fetches(self, size):
        headers = {"Authorization": "Bearer " + TOKEN, "Tus-Resumable": "1.0.0", "Upload-Length": str(size),
                   "Content-Type": "application/offset+octet-stream"}
        lines = []
        for _ in range(FILES_TO_FETCH):
            answered, _ = self.expect(201, "POST", "/files", os.urandom(size), headers)
            lines.append(as_line("GET", urllib.parse.urlsplit(answered["Location"]).path, AUTHORIZATION))
        return Load(self.port, lines)

    def empty(self):
        remove_files(self.store)


class TusAtOnce(Tus):
    name = "tus-at-once"
    what = "@tus/server, file store; the bytes in the POST (creation-with-upload)"
    kept = "page cache"
    durability = "no: 201 when the bytes are in the page cache; nothing is synced"
    protocol = "tus 1.0: POST with the bytes; GET"
    instead = {"fetch": "as tus"}

    def uploads(self, size, count):
        return Load(self.port, [self._create(size, "Content-Type: application/offset+octet-stream")], "raw")

    def fetches(self, size):
        return None
