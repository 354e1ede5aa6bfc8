"""The peer in Go: Restante's contract on gin and lib/pq. bench/peer has its source."""

import subprocess

import contenders
import harness

from .contract import ContractPeer
from .peer import NotPossible


class Go(ContractPeer):
    name = "go"
    what = "Go: gin, lib/pq"
    kept = "on disk"
    durability = "yes: 200 after the commit of PostgreSQL with fsync, file and feed row in one transaction"
    programs = {"go": "golang-go", "psql": "postgresql-15"}

    def start(self):
        try:
            binary = contenders.build_peer()
        except subprocess.CalledProcessError as error:
            raise NotPossible(f"it does not build: {error}")
        self._cluster = self.common.cluster()
        self._cluster.sql("CREATE DATABASE go")
        self._cluster.sql((harness.ROOT / "bench/peer/schema.sql").read_text(), "go")
        self.run([str(binary)], self.port, ADDR=f"127.0.0.1:{self.port}",
                 DATABASE_URL=self._cluster.conninfo("go") + " sslmode=disable")
        self.register_all()

    def roots(self):
        return [*super().roots(), self._cluster.postmaster()]

    def empty(self):
        self._cluster.sql("TRUNCATE pending_uploads, activity_logs; CHECKPOINT", "go")
