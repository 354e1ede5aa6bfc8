#!/usr/bin/env python3
"""Many forwards at once: they are passed through and not kept."""

import hashlib
import threading
import unittest

from forms import CHROME, form, noise, part
from http_wire import Wire
from push_case import PushCase, Receiver
from server_process import is_sanitized, release_binary

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


if __name__ == "__main__":
    unittest.main()
