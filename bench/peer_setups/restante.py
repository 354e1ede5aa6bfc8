"""Restante itself, with the settings of ./start."""

import pathlib
import time

from cluster import psql

from .contract import ContractPeer, ParkedPolls
from .peer import NotPossible, remove_files

SECONDS_TO_FINISH = 1  # uploads that wrk cut off; their locks and those of TRUNCATE would be a deadlock


class Restante(ContractPeer):
    name = "restante"
    what = "Restante, settings of `./start`"
    kept = "on disk"
    durability = ("yes: 200 after the commit of PostgreSQL with fsync; files above 256 KiB are synced to a directory, "
                  "with their entry in it, before that")
    wakes_by = "long poll"
    programs = {"psql": "postgresql-15"}

    def start(self):
        binary = self.common.server
        if not pathlib.Path(binary).exists():
            raise NotPossible(f"there is no {binary}")
        self.data = self.folder / "data"
        self.run([str(binary), "serve", "--data-dir", str(self.data), "--listen", f"127.0.0.1:{self.port}",
                  "--metrics-listen", "127.0.0.1:0"], self.port)
        self.register_all()

    def _conninfo(self):
        recorded = self.data / "postgres/socket_directory"
        socket = recorded.read_text().strip() if recorded.exists() else self.data / "postgres/socket"
        return f"host={socket} port=5432 user=postgres dbname=postgres"

    def roots(self):
        """PostgreSQL may have another parent than the server."""
        postmaster = int((self.data / "postgres/data/postmaster.pid").read_text().split()[0])
        return [*super().roots(), postmaster]

    def wakes(self, count):
        return ParkedPolls(self, count)

    def empty(self):
        time.sleep(SECONDS_TO_FINISH)
        psql(self._conninfo(), "TRUNCATE pending_uploads, upload_requests; CHECKPOINT")
        remove_files(self.data / "content")
