"""One workspace asks for more than the server can do at once; another is served in its turn."""

import concurrent.futures
import threading
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


if __name__ == "__main__":
    unittest.main()
