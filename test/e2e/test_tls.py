"""TLS: what is offered, what is rejected, and a certificate that is replaced while connections are open."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import ssl
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from forms import PLAIN, form, part
from front_case import GET, FrontCase, TlsWire, still_answers, tls_context
from http_wire import Wire, await_true
from server_process import Server, release_binary, run_command
from testbed import Database, upload_head


def s_client(address, *words):
    """(exit code, output); it connects, sends nothing and disconnects."""
    done = subprocess.run(["openssl", "s_client", "-connect", "%s:%d" % address, *words], input=b"", timeout=20,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def make_pair(folder, name):
    """A new certificate and key: (certificate, key)."""
    certificate, key = os.path.join(folder, f"{name}.crt"), os.path.join(folder, f"{name}.key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-days", "10", "-keyout", key, "-out", certificate)
    os.chmod(key, 0o600)
    return certificate, key


def make_expired_pair(folder):
    """Only `openssl ca` allows choosing both dates."""
    key, request, certificate = (os.path.join(folder, f"old.{kind}") for kind in ("key", "csr", "crt"))
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=old",
            "-keyout", key, "-out", request)
    config = pathlib.Path(folder, "ca.conf")
    config.write_text(f"[ca]\ndefault_ca=a\n[a]\nnew_certs_dir={folder}\ndatabase={folder}/index\nrand_serial=yes\n"
                      "default_md=sha256\npolicy=p\n[p]\nCN=supplied\n")
    pathlib.Path(folder, "index").touch()
    openssl("ca", "-config", str(config), "-batch", "-selfsign", "-keyfile", key, "-in", request, "-out", certificate,
            "-notext", "-startdate", "20200101000000Z", "-enddate", "20210101000000Z")
    os.chmod(key, 0o600)
    return certificate, key


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=20)


def name_of(certificate):
    """The subject's CN of a certificate in DER format."""
    text = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-subject"], input=certificate,
                          capture_output=True, check=True, timeout=20).stdout.decode()
    return re.search(r"CN = (.*)", text).group(1)


class Tls(FrontCase):
    flags = ("--listen-tls", "127.0.0.1:0")

    def tls(self, context=None, timeout=30):
        return TlsWire(self.server.tls_address, context, timeout)

    def test_both_versions_answer(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = tls_context(minimum_version=version, maximum_version=version)
            context.set_alpn_protocols(["h2", "http/1.1"])
            with self.tls(context) as wire:
                self.assertTrue(still_answers(wire))
                self.assertTrue(still_answers(wire))
                self.assertEqual(wire.socket.selected_alpn_protocol(), "http/1.1")
                self.assertIsNone(wire.socket.compression())

    def test_old_versions_and_weak_ciphers_are_refused(self):
        for words in (["-tls1"], ["-tls1_1"],
                      ["-tls1_2", "-cipher", "AES128-SHA"], ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
                      ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"],
                      ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"],
                      ["-tls1_2", "-cipher", "aNULL:eNULL"], ["-groups", "P-521"]):
            with self.subTest(" ".join(words)):
                security = ["-cipher", "DEFAULT:@SECLEVEL=0"] if words[0] in ("-tls1", "-tls1_1") else []
                code, text = s_client(self.server.tls_address, *words, *security)
                self.assertNotEqual(code, 0, text)
        code, text = s_client(self.server.tls_address, "-groups", "X25519")
        self.assertEqual(code, 0, text)

    def test_nothing_is_resumed_and_nothing_is_early(self):
        code, text = s_client(self.server.tls_address, "-tls1_2")
        self.assertEqual(code, 0, text)
        self.assertIn("Secure Renegotiation IS supported", text)
        self.assertNotIn("TLS session ticket:", text)
        context = tls_context()
        with self.tls(context) as wire:
            self.assertTrue(still_answers(wire))
            session = wire.socket.session
            self.assertFalse(session and session.has_ticket)

    def test_no_renegotiation(self):
        client = subprocess.Popen(["openssl", "s_client", "-tls1_2", "-connect", "%s:%d" % self.server.tls_address],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        client.stdin.write(b"R\n")
        client.stdin.flush()
        text, _ = client.communicate(timeout=20)
        self.assertIn(b"no renegotiation", text)

    def test_the_certificate_names_this_machine(self):
        with self.tls() as wire:
            der = wire.socket.getpeercert(binary_form=True)
        text = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-text"], input=der, check=True,
                              capture_output=True, timeout=20).stdout.decode()
        for words in ("DNS:localhost", "IP Address:127.0.0.1", "IP Address:0:0:0:0:0:0:0:1", "NIST CURVE: P-256"):
            self.assertIn(words, text)

    def test_a_body_larger_than_a_record(self):
        with self.tls() as wire:
            wire.send(b"POST /nowhere HTTP/1.1\r\nHost: test\r\nContent-Length: 3000000\r\n\r\n")
            wire.send_what_is_taken([bytes(3_000_000)])
            self.assertEqual(wire.read_answer().status, 404)

    def test_plain_text_on_the_tls_port_and_noise(self):
        for data in (GET, os.urandom(64), bytes.fromhex("16030100a5010000a10303") + bytes(160)):
            with Wire(self.server.tls_address, timeout=15) as wire:
                wire.send(data)
                wire.socket.shutdown(socket.SHUT_WR)
                rest = wire.socket.recv(1000)
                self.assertTrue(rest == b"" or rest[0] == 0x15, rest)

    def test_silence_and_half_a_hello_are_closed_at_ten_seconds(self):
        begun = time.monotonic()
        with Wire(self.server.tls_address, timeout=15) as silent, Wire(self.server.tls_address, timeout=15) as half:
            half.send(bytes.fromhex("16030100a5010000"))
            self.assertTrue(silent.is_closed(within=13))
            self.assertTrue(half.is_closed(within=3))
        self.assertAlmostEqual(time.monotonic() - begun, 10, delta=1.5)

    def test_an_upload_that_is_cut_leaves_nothing(self):
        """Without close_notify, and also with it: the announced body has not arrived."""
        workspace = self.db.add_workspace()
        body = form(part(bytes(300_000)))
        for goodbye in (False, True):
            with self.tls() as wire:
                wire.send(upload_head(workspace, PLAIN, len(body)))
                wire.send(body[:-10])
                if goodbye:
                    with contextlib.suppress(ssl.SSLError):  # the server responds, which Python does not expect
                        wire.socket.unwrap()
        await_true(lambda: len(self.server.descriptors()) <= self.descriptors_before, 40, "both connections closed")
        self.assertEqual(set(self.db.counts().values()), {0})
        with self.tls() as wire:
            wire.send(upload_head(workspace, PLAIN, len(body)))
            wire.send(body)
            self.assertEqual(wire.read_answer().status, 200)

    def test_goodbye_is_said(self):
        """The server ends its side with close_notify, so that a client can distinguish the end from a
        truncation."""
        with self.tls() as wire:
            wire.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
            self.assertEqual(wire.read_answer().status, 200)
            self.assertEqual(wire.socket.recv(1), b"")

    def test_many_at_once(self):
        """More handshakes than are admitted at a time, each of them answered."""
        answered = []

        def connect():
            try:
                with self.tls(timeout=60) as wire:
                    answered.append(still_answers(wire))
            except OSError as problem:
                answered.append(problem)

        threads = [threading.Thread(target=connect) for _ in range(300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
        self.assertEqual(answered, [True] * 300)


class Memory(FrontCase):
    flags = ("--listen-tls", "127.0.0.1:0")
    binary = release_binary()

    def test_an_idle_tls_connection_is_small(self):
        context = tls_context()
        for _ in range(20):
            with TlsWire(self.server.tls_address, context) as wire:
                self.assertTrue(still_answers(wire))
        before = self.server.resident_bytes()
        wires = [TlsWire(self.server.tls_address, context) for _ in range(500)]
        try:
            for wire in wires:
                self.assertTrue(still_answers(wire))
            self.assert_memory_below(before + 500 * (40 << 10))
        finally:
            for wire in wires:
                wire.close()


class Certificates(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.db = self.enterContext(Database())

    def start(self, certificate, key):
        server = self.enterContext(Server(self.db.conninfo, "--listen-tls", "127.0.0.1:0", "--tls-cert", certificate,
                                          "--tls-key", key))
        return server.wait_ready()

    def refusal(self, *flags):
        code, out, err = run_command("serve", "--database-url", self.db.conninfo, "--listen", "127.0.0.1:0",
                                     "--metrics-listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0",
                                     "--data-dir", self.folder, *flags)
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        return err

    def test_a_bad_pair_is_told_at_start(self):
        certificate, key = make_pair(self.folder, "one")
        _, other = make_pair(self.folder, "two")
        expired, expired_key = make_expired_pair(self.folder)
        self.assertIn("does not belong", self.refusal("--tls-cert", certificate, "--tls-key", other))
        self.assertIn("expired", self.refusal("--tls-cert", expired, "--tls-key", expired_key))
        self.assertIn("missing.pem", self.refusal("--tls-cert", self.folder + "/missing.pem", "--tls-key", key))
        pathlib.Path(self.folder, "empty.pem").touch()
        self.assertIn("empty.pem", self.refusal("--tls-cert", self.folder + "/empty.pem", "--tls-key", key))
        os.chmod(key, 0o644)
        self.assertIn("chmod 600", self.refusal("--tls-cert", certificate, "--tls-key", key))

    def test_the_self_signed_pair_is_kept_and_closed_to_others(self):
        with Server(self.db.conninfo, "--listen-tls", "127.0.0.1:0") as server:
            first = self.served_certificate(server)
            server.stop()
            server.start()
            self.assertEqual(self.served_certificate(server), first)
            key = pathlib.Path(server.spool_dir).parent / "data" / "tls-key.pem"
            self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)

    def test_reload_under_traffic(self):
        """New connections get the new certificate; old ones continue; a bad one changes nothing."""
        certificate, key = make_pair(self.folder, "first")
        server = self.start(certificate, key)
        failures, stop = [], threading.Event()

        def traffic():
            try:
                while not stop.is_set():
                    with TlsWire(server.tls_address) as wire:
                        for _ in range(5):
                            if not still_answers(wire):
                                failures.append("no answer")
            except OSError as problem:
                failures.append(problem)

        clients = [threading.Thread(target=traffic) for _ in range(4)]
        with TlsWire(server.tls_address) as old:
            self.assertTrue(still_answers(old))
            for client in clients:
                client.start()
            try:
                for name in ("second", "third", "fourth"):
                    self.replace(certificate, key, name)
                    server.process.send_signal(signal.SIGHUP)
                    await_true(lambda: self.served_name(server) == name, 10, f"the certificate {name}")
                mark = server.log_size()
                with open(key, "w") as broken:
                    broken.write("nonsense")
                server.process.send_signal(signal.SIGHUP)
                await_true(lambda: "certificate_not_reloaded" in server.log_text(mark), 10, "the refusal is logged")
                self.assertEqual(self.served_name(server), "fourth")
            finally:
                stop.set()
                for client in clients:
                    client.join(30)
            self.assertTrue(still_answers(old))
        self.assertEqual(failures, [])

    def replace(self, certificate, key, name):
        for target, made in zip((certificate, key), make_pair(self.folder, name)):
            os.replace(made, target)

    def served_certificate(self, server):
        with TlsWire(server.tls_address) as wire:
            return wire.socket.getpeercert(binary_form=True)

    def served_name(self, server):
        return name_of(self.served_certificate(server))


if __name__ == "__main__":
    unittest.main()
