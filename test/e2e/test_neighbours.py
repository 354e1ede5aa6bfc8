"""One workspace asks for more than the server can do at once; another is served in its turn."""

import collections
import concurrent.futures
import json
import threading
import time
import unittest

from forms import PLAIN, form, noise, part
from http_wire import Wire, request_head
from server_case import ServerCase
from testbed import upload

MIB = 1 << 20
DOWNLOADS = 80


class Downloads(ServerCase):
    flags = ("--threads", "1", "--db-connections", "8")

    def stage(self, workspace, content):
        answer = upload(self.server.address, workspace, form(part(content)), PLAIN)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["files"][0]["file_id"]

    def fetch(self, workspace, file):
        head = request_head("GET", f"/workspaces/{workspace.id}/pending-uploads/{file}/content", [
            ("Host", "test"), ("Authorization", f"Bearer {workspace.token}"), ("Connection", "close")])
        with Wire(self.server.address, timeout=120) as wire:
            wire.send(head)
            return wire.read_answer()

    def test_eighty_large_downloads_do_not_hold_up_a_neighbour(self):
        """Counted in downloads that end meanwhile, not in seconds, which depend on the machine."""
        noisy, quiet = self.db.add_workspace(), self.db.add_workspace()
        large, small = self.stage(noisy, noise(8 * MIB, 1)), self.stage(quiet, noise(1000, 2))
        guard, ended, under_way = threading.Lock(), [0], threading.Event()

        def download(_):
            answer = self.fetch(noisy, large)
            with guard:
                ended[0] += 1
            under_way.set()
            return answer.status

        with concurrent.futures.ThreadPoolExecutor(DOWNLOADS) as pool:
            downloads = [pool.submit(download, i) for i in range(DOWNLOADS)]
            under_way.wait(60)
            before = ended[0]
            self.assertEqual(self.fetch(quiet, small).status, 200)
            after_fetch = ended[0]
            self.stage(quiet, noise(3 * MIB, 3))
            after_upload = ended[0]
            self.assertEqual({each.result() for each in downloads}, {200})
        print(f"downloads that ended during the fetch: {after_fetch - before}, "
              f"during the upload: {after_upload - after_fetch}", flush=True)
        self.assertLessEqual(after_fetch - before, 8)
        self.assertLessEqual(after_upload - after_fetch, 16)


class Reports(ServerCase):
    """One workspace reports as fast as it can, a megabyte at a time; uploads to another go on beside it."""

    flags = ("--threads", "1")
    senders = 64
    uploads = 40
    # It was 1.4 s, with 503s, where one alone takes 6 ms. The machine may be busy with other tests.
    slowest_allowed = 5

    def test_sixty_four_connections_of_large_reports_do_not_hold_up_a_neighbour(self):
        noisy, quiet = self.db.add_workspace(), self.db.add_workspace()
        body = json.dumps({"activity_type": "agent_log", "request_body": {"text": "x" * 1_000_000}}).encode()
        report = request_head("POST", f"/workspaces/{noisy.id}/activity", [
            ("Host", "test"), ("Authorization", f"Bearer {noisy.token}"), ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))), ("Connection", "close")]) + body
        stop, stored = threading.Event(), threading.Semaphore(0)

        def crowd(_):
            heard = collections.Counter()
            while not stop.is_set():
                with Wire(self.server.address, timeout=120) as wire:
                    wire.send_what_is_taken([report])
                    status = wire.read_answer().status
                heard[status] += 1
                if status == 200:
                    stored.release()
            return heard

        with concurrent.futures.ThreadPoolExecutor(self.senders) as pool:
            crowds = [pool.submit(crowd, i) for i in range(self.senders)]
            try:
                self.assertTrue(stored.acquire(timeout=60), "the crowd is there")
                answers = [self.timed_upload(quiet) for _ in range(self.uploads)]
            finally:
                stop.set()
            heard = sum((each.result() for each in crowds), collections.Counter())
        slowest = max(seconds for _, seconds in answers)
        print(f"{self.uploads} uploads beside {dict(heard)} reports of 1 MB: the slowest took {slowest:.2f} s", flush=True)
        self.assertEqual({status for status, _ in answers}, {200})
        self.assertLess(slowest, self.slowest_allowed)
        self.assertLessEqual(set(heard), {200, 503})

    def timed_upload(self, workspace):
        begun = time.monotonic()
        answer = upload(self.server.address, workspace, form(part(b"y" * 1000)), PLAIN)
        return answer.status, time.monotonic() - begun


if __name__ == "__main__":
    unittest.main()
