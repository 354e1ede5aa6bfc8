#!/usr/bin/env python3
"""Many forwards at once: they are passed through and not kept."""

import hashlib
import pathlib
import socket
import tempfile
import threading
import unittest

from forms import CHROME, chunked, form, noise, part
from http_wire import Wire
from push_case import PushCase, Receiver, make_certificate
from server_process import Server, is_sanitized, release_binary

KIB, MIB = 1024, 1024 * 1024


class Load(PushCase):
    """200 forwards of 25 MB at a time within 128 MiB of memory, and no forward above 256 KiB. The figures are
    those of a release build; with a sanitizer only the bytes are checked."""

    binary = release_binary()
    forwards_at_once = 200
    size = 25_000_000

    def test_200_at_once(self):
        content = noise(self.size, 1)
        body = form(part(content), boundary=CHROME)
        digest = hashlib.sha256(body).hexdigest()
        together = threading.Barrier(self.forwards_at_once, timeout=120)
        middle, digests, statuses = [], [], []

        def script(peer):
            _, headers = peer.read_head()
            self.assertEqual(int(headers["content-length"]), len(body))
            seen, left = hashlib.sha256(), len(body)
            first = peer._read(64 * KIB)
            seen.update(first)
            left -= len(first)
            # All are in the middle of their bodies, and every buffer on the way is full.
            if together.wait() == 0:
                middle.append(self.server.resident_bytes())
            while left:
                piece = bytes(peer._received[:left]) or peer.socket.recv(min(left, 64 * KIB))
                del peer._received[:len(piece)]
                seen.update(piece)
                left -= len(piece)
            digests.append(seen.hexdigest())
            peer.answer()

        def send(workspace):
            with Wire(self.server.address, timeout=300) as wire:
                wire.send(self.head(workspace, len(body)))
                wire.socket.sendall(body)
                statuses.append(wire.read_answer().status)

        with Receiver(script) as receiver:
            workspace = self.workspace_at(receiver.port)
            self.assertEqual(self.server.get("/healthz").status, 200)
            before = self.server.resident_bytes()
            threads = [threading.Thread(target=send, args=(workspace,)) for _ in range(self.forwards_at_once)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(statuses, [200] * self.forwards_at_once)
        self.assertEqual(digests, [digest] * self.forwards_at_once)
        peak = self.server.resident_bytes(peak=True)
        each = (middle[0] - before) / self.forwards_at_once
        print(f"\npeak {peak / MIB:.0f} MiB, {each / KIB:.0f} KiB a forward ({self.server.binary})", flush=True)
        if not is_sanitized(self.server.binary):
            self.assertLessEqual(peak, 128 * MIB)
            self.assertLessEqual(each, 256 * KIB)

    def test_chunks_and_tls_take_no_more(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate = pathlib.Path(folder, "workspace.pem")
            context = make_certificate(certificate)
            for scheme, length in (("http", False), ("https", True), ("https", False)):
                # A new server each time: one that has served others keeps some of their memory.
                with self.subTest(scheme=scheme, length=length), \
                        Server(self.db.conninfo, *self.flags, "--push-ca-file", str(certificate),
                               binary=self.binary) as server:
                    server.wait_ready()
                    self.forward_together(server, context if scheme == "https" else None, length)

    def forward_together(self, server, context, length, count=100):
        content = noise(2 * MIB, 1)
        body = form(part(content), boundary=CHROME)
        sent = body if length else chunked(body, (100_000,))
        together = threading.Barrier(count, timeout=120)
        middle, bodies, statuses = [], [], []

        def script(peer):
            # So little that the rest of the body cannot all lie in the kernel.
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 * KIB)
            _, headers = peer.read_head()
            while len(peer._received) < 64 * KIB:
                peer._receive()
            if together.wait() == 0:
                middle.append(server.resident_bytes())
            together.wait()
            bodies.append(peer._read_body(headers) == body)
            peer.answer()

        def send(workspace):
            with Wire(server.address, timeout=300) as wire:
                wire.send(self.head(workspace, len(body) if length else None))
                wire.socket.sendall(sent)
                statuses.append(wire.read_answer().status)

        with Receiver(script, context) as receiver:
            workspace, _ = self.register(f"{'https' if context else 'http'}://localhost:{receiver.port}/", server)
            self.assertEqual(server.get("/healthz").status, 200)
            before = server.resident_bytes()
            threads = [threading.Thread(target=send, args=(workspace,)) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(statuses, [200] * count)
        self.assertEqual(bodies, [True] * count)
        each = (middle[0] - before) / count
        print(f"\n{'https' if context else 'http'}, {'length' if length else 'chunks'}: {each / KIB:.0f} KiB a forward",
              flush=True)
        if not is_sanitized(server.binary):
            self.assertLessEqual(each, 256 * KIB)


if __name__ == "__main__":
    unittest.main()
