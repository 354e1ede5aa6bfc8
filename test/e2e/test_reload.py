#!/usr/bin/env python3
"""SIGHUP: each setting that can change while the server runs does so, in every shard and under load, without a
request being dropped; the others are named; a file with a mistake changes nothing."""

import pathlib
import re
import secrets
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import forms
from http_wire import Wire, await_true, request_head
from server_process import BINARY, Server
from test_tls import TlsWire, make_pair, name_of
from testbed import Database, upload

SHARDS = 3
# Connections are spread over the shards by a hash of their ports: of so many, none is missed.
CONNECTIONS = 40


class Traffic:
    """Clients that keep uploading and reading, on connections of their own and on kept ones. What is not answered
    with 200 is a failure."""

    def __init__(self, server, workspace):
        self._server, self._workspace = server, workspace
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(work,)) for work in (self._upload, self._keep, self._tls)]
        self.failures, self.answers = [], 0

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, work):
        try:
            while not self._stop.is_set():
                work()
        except (OSError, ValueError) as problem:
            self.failures.append(f"{work.__name__}: {problem!r}")

    def _note(self, answer):
        self.answers += 1
        if answer.status != 200:
            self.failures.append(answer)

    def _upload(self):
        self._note(upload(self._server.address, self._workspace, forms.form(forms.part(b"x" * 2000)), forms.PLAIN))

    def _keep(self):
        with Wire(self._server.address) as wire:
            self._read_on(wire)

    def _tls(self):
        with TlsWire(self._server.tls_address) as wire:
            self._read_on(wire)

    def _read_on(self, wire):
        for _ in range(20):
            wire.send(request_head("GET", f"/workspaces/{self._workspace.id}/activity?limit=1", [
                ("Host", "test"), ("Authorization", f"Bearer {self._workspace.token}")]))
            self._note(wire.read_answer())


class Reload(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="restante-reload-")))
        self.db = self.enterContext(Database())
        self.config = self.folder / "restante.conf"
        self.token_file = self.folder / "admin-token"
        self.old_token = self.new_admin_token()
        first, first_key = make_pair(str(self.folder), "first")
        self.settings = {"tls-cert": first, "tls-key": first_key, "admin-token-file": self.token_file,
                         "registration": "open", "log-level": "info", "workspace-max-files": "0",
                         "workspace-max-bytes": "0"}
        self.write()
        self.server = self.enterContext(Server(self.db.conninfo, "--config", str(self.config), "--threads", str(SHARDS),
                                               "--listen-tls", "127.0.0.1:0"))
        self.server.wait_ready()
        self.workspace = self.db.add_workspace()

    def new_admin_token(self):
        token = secrets.token_urlsafe(24)
        self.token_file.write_text(token)
        self.token_file.chmod(0o600)
        return token

    def write(self, **changes):
        self.settings.update({key.replace("_", "-"): value for key, value in changes.items()})
        text = "".join(f"{key} = {value}\n" for key, value in self.settings.items() if value is not None)
        self.config.write_text(text)

    def reload(self, expected="settings_reloaded", **changes):
        """Writes these settings, sends SIGHUP and returns the lines that it has caused, once `expected` is there."""
        self.write(**changes)
        mark = self.server.log_size()
        self.server.process.send_signal(signal.SIGHUP)
        mine = lambda: [line for line in self.server.log_lines(mark) if "reload" in line["event"] or "restart" in line["event"]]
        await_true(lambda: any(line["event"] == expected for line in mine()), 60, expected)
        return mine()

    def await_everywhere(self, ask, expected, what):
        """Until connection after connection, of all shards, gets this."""
        await_true(lambda: all(ask() == expected for _ in range(CONNECTIONS)), 120, what)

    def ask(self, method, target, token=None, headers=(), body=b""):
        bearer = [("Authorization", f"Bearer {token}")] if token else []
        with Wire(self.server.address) as wire:
            wire.send(request_head(method, target, [("Host", "test"), ("Connection", "close"), *bearer, *headers,
                                                    ("Content-Length", str(len(body)))]) + body)
            return wire.read_answer()

    def opens(self, token):
        """A wrong token is 401, and after twenty of them 429."""
        return self.ask("GET", f"/workspaces/{self.workspace.id}/tokens", token).status == 200

    def can_register(self):
        told = self.ask("POST", "/registry/register", headers=[("Content-Type", "application/json")], body=b"{}")
        return told.status == 400  # what is wrong is the body, not the caller

    def allows(self, origin):
        return self.ask("GET", "/healthz", headers=[("Origin", origin)]).headers.get("access-control-allow-origin") == origin

    def upload_status(self, workspace):
        return upload(self.server.address, workspace, forms.form(forms.part(b"x" * 1000)), forms.PLAIN).status

    def served_name(self):
        with TlsWire(self.server.tls_address) as wire:
            return name_of(wire.socket.getpeercert(binary_form=True))

    def test_each_setting_changes_in_every_shard_under_load(self):
        busy = self.db.add_workspace()
        self.lift_quota(busy)
        with Traffic(self.server, busy) as traffic:
            await_true(lambda: traffic.answers > 50 or traffic.failures, 60, "traffic")
            for change in (self.change_origin, self.change_registration, self.change_admin_token, self.change_certificate,
                           self.change_log_level, self.change_quotas):
                with self.subTest(change.__name__):
                    before = traffic.answers
                    change()
                    self.assertGreater(traffic.answers, before, "there was traffic meanwhile")
            seen = traffic.answers
            await_true(lambda: traffic.answers > seen + 50 or traffic.failures, 60, "traffic afterwards")
        self.assertEqual(traffic.failures, [])

    def lift_quota(self, workspace):
        """Of its own, so that the server's limit is not its limit."""
        answer = self.ask("PUT", f"/workspaces/{workspace.id}/quota", self.old_token, [("Content-Type", "application/json")],
                          b'{"max_bytes":0,"max_files":0}')
        self.assertEqual(answer.status, 200, answer)

    def test_every_setting_that_can_change_is_changed_here(self):
        """The settings whose help says so; the keys of an S3 store are read again too, which test_s3.py shows."""
        told = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        options = re.split(r"^  (?=--)", told, flags=re.MULTILINE)[1:]
        reloadable = {re.match(r"--([a-z0-9-]+)", each)[1] for each in options if "SIGHUP reloads it" in " ".join(each.split())}
        self.assertEqual(reloadable, {"tls-cert", "tls-key", "admin-token-file", "allowed-origin", "registration", "log-level",
                                      "workspace-max-files", "workspace-max-bytes"})

    def change_origin(self):
        origin = "https://chat.example"
        self.assertFalse(self.allows(origin))
        told = self.reload(allowed_origin=origin)
        self.assertEqual(told[-1]["changed"], "allowed-origin")
        self.await_everywhere(lambda: self.allows(origin), True, "the new origin")
        self.reload(allowed_origin=None)
        self.await_everywhere(lambda: self.allows(origin), False, "no origin again")

    def change_registration(self):
        self.assertTrue(self.can_register())
        self.reload(registration="admin")
        self.await_everywhere(self.can_register, False, "closed registration")
        self.reload(registration="open")
        self.await_everywhere(self.can_register, True, "open registration")

    def change_admin_token(self):
        old = self.old_token
        self.assertTrue(self.opens(old))
        with Wire(self.server.address, timeout=60) as stream:
            stream.send(request_head("GET", f"/workspaces/{self.workspace.id}/events/stream",
                                     [("Host", "test"), ("Authorization", f"Bearer {old}")]))
            self.assertEqual(stream.read_answer(head_only=True).status, 200)
            new = self.new_admin_token()
            told = self.reload()
            self.assertEqual(told[-1]["changed"], "admin-token-file")
            self.await_everywhere(lambda: (self.opens(new), self.opens(old)), (True, False), "the new admin token alone")
            end = time.monotonic() + 60
            while stream.socket.recv(1 << 16):
                self.assertLess(time.monotonic(), end, "the stream of the old token goes on")

    def change_certificate(self):
        self.assertEqual(self.served_name(), "first")
        certificate, key = make_pair(str(self.folder), "second")
        self.reload(tls_cert=certificate, tls_key=key)
        self.await_everywhere(self.served_name, "second", "the new certificate")

    def change_log_level(self):
        self.reload(log_level="debug")
        self.reload(log_level="info")
        self.write(log_level="error")
        self.server.process.send_signal(signal.SIGHUP)
        # From some moment on, an upload leaves no line.
        def is_silent():
            mark = self.server.log_size()
            self.assertEqual(self.upload_status(self.workspace), 200)
            return not any(line["event"].startswith("upload") for line in self.server.log_lines(mark))
        await_true(is_silent, 60, "a silent log")
        self.reload(log_level="info")

    def change_quotas(self):
        workspace = self.db.add_workspace()
        self.assertEqual([self.upload_status(workspace) for _ in range(2)], [200, 200])
        self.reload(workspace_max_files="2")
        self.await_everywhere(lambda: self.upload_status(workspace), 507, "the limit of files")
        self.reload(workspace_max_files="0", workspace_max_bytes="2500")
        self.await_everywhere(lambda: self.upload_status(workspace), 507, "the limit of bytes")
        self.reload(workspace_max_bytes="1GiB")
        self.await_everywhere(lambda: self.upload_status(workspace), 200, "the raised limit")

    def test_what_cannot_change_is_named_in_one_line(self):
        told = self.reload(max_files="3", upload_ttl="2h", allowed_origin="https://a.example")
        self.assertEqual([line["event"] for line in told],
                         ["certificate_reloaded", "settings_need_restart", "settings_reloaded"])
        self.assertEqual((told[1]["level"], told[1]["settings"]), ("warn", "upload-ttl, max-files"))
        self.assertEqual(told[2]["changed"], "allowed-origin")
        body = forms.form(*(forms.part(b"x") for _ in range(4)))
        self.assertEqual(upload(self.server.address, self.workspace, body, forms.PLAIN).status, 200)

    def test_a_mistake_changes_nothing(self):
        origin = "https://b.example"
        for wrong in ({"no_such_setting": "1"}, {"registration": "maybe"}, {"admin_token_file": str(self.folder / "none")}):
            with self.subTest(wrong):
                before = dict(self.settings)
                told = self.reload("settings_not_reloaded", allowed_origin=origin, **wrong)
                self.assertEqual([(line["event"], line["level"]) for line in told], [("settings_not_reloaded", "error")])
                self.assertIn(next(iter(wrong)).replace("_", "-"), told[0]["error"])
                self.settings = before
        told = self.reload("certificate_not_reloaded", allowed_origin=origin, tls_cert=str(self.token_file))
        self.assertEqual([line["event"] for line in told], ["certificate_not_reloaded"])
        self.assertEqual([self.allows(origin) for _ in range(CONNECTIONS)], [False] * CONNECTIONS)
        self.assertTrue(self.opens(self.old_token))


if __name__ == "__main__":
    unittest.main()
