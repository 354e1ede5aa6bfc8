"""prosody with http_file_share: an XMPP client asks for a slot and sends the file to it with PUT (XEP-0363). The slots
are asked for before the uploads that are measured, so their cost is left out; the notes tell it."""

import os
import subprocess
import time
import urllib.parse

import processes

from . import xmpp
from .peer import FILES_TO_FETCH, Load, NotPossible, Peer, as_line, remove_files

HOST, COMPONENT, USER, PASSWORD = "localhost", "upload.localhost", "bench", "a-password-of-the-bench"

# The limits of a day and of items would be reached within a second; they are not what is measured.
SETTINGS = """
{root}
pidfile = "{folder}/pid"
data_path = "{folder}/data"
certificates = "{folder}"
log = {{ info = "{folder}/prosody.log" }}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {xmpp} }}
s2s_ports = {{ }}
http_ports = {{ {port} }}
http_interfaces = {{ "127.0.0.1" }}
https_ports = {{ }}
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
storage_archive_item_limit = 100000000
modules_enabled = {{ "roster"; "saslauth"; "disco" }}
modules_disabled = {{ "s2s" }}
VirtualHost "{host}"
Component "{component}" "http_file_share"
    http_host = "127.0.0.1"
    http_file_share_size_limit = 52428800
    http_file_share_daily_quota = 1000000000000
"""


class Prosody(Peer):
    name = "prosody"
    what = "prosody: http_file_share, one process"
    kept = "page cache"
    durability = "no: 201 when the bytes are in the page cache; nothing is synced"
    protocol = "PUT to an XMPP slot (asked for before); GET"
    programs = {"prosody": "prosody", "prosodyctl": "prosody"}

    def start(self):
        self._xmpp_port = processes.free_port()
        root = "run_as_root = true" if os.geteuid() == 0 else ""
        settings = self.folder / "prosody.cfg.lua"
        settings.write_text(SETTINGS.format(root=root, folder=self.folder, xmpp=self._xmpp_port, port=self.port,
                                            host=HOST, component=COMPONENT))
        (self.folder / "data").mkdir()
        added = subprocess.run(["prosodyctl", "--config", str(settings), "register", USER, HOST, PASSWORD],
                               capture_output=True, text=True, timeout=30)
        if added.returncode:
            raise NotPossible("no account: " + " ".join((added.stdout + added.stderr)[-300:].split()))
        process = self.run(["prosody", "--config", str(settings), "-F"], self.port)
        if not processes.wait_until_listening(process, self._xmpp_port, seconds=15):
            raise NotPossible("its XMPP port does not listen")
        self._client = xmpp.Client(self._xmpp_port, HOST, USER, PASSWORD)
        self.notes = {}

    def stop(self):
        if hasattr(self, "_client"):
            self._client.close()
        super().stop()

    def _slots(self, size, count):
        began = time.perf_counter()
        slots = self._client.slots(COMPONENT, size, count)
        self.notes["slots_per_second"] = count / (time.perf_counter() - began)
        return [(urllib.parse.urlsplit(url).path, token) for url, token in slots]

    def uploads(self, size, count):
        lines = [as_line("PUT", path, "Authorization: " + token, "Content-Type: application/octet-stream")
                 for path, token in self._slots(size, count)]
        return Load(self.port, lines, "raw", once=True)

    def fetches(self, size):
        lines = []
        for path, token in self._slots(size, FILES_TO_FETCH):
            self.expect(201, "PUT", path, os.urandom(size), {"Authorization": token, "Host": "127.0.0.1"})
            lines.append(as_line("GET", path))
        return Load(self.port, lines)

    def empty(self):
        remove_files(self.folder / "data" / COMPONENT.replace(".", "%2e") / "http_file_share")
