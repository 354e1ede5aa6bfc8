"""Node with busboy and pg: node/form_server.mjs."""

import harness

from . import node_packages
from .contract import ContractPeer, ParkedPolls


class NodeForm(ContractPeer):
    name = "node"
    what = "Node: busboy, pg, a process for each core"
    kept = "on disk"
    durability = "yes: 200 after the commit of PostgreSQL with fsync, file and feed row in one transaction"
    wakes_by = "long poll, LISTEN/NOTIFY"
    programs = {"node": "nodejs", "psql": "postgresql-15"}

    def start(self):
        node_packages.install()
        self._cluster = self.common.cluster()
        self._cluster.sql("CREATE DATABASE node")
        self._cluster.sql((harness.ROOT / "bench/peer/schema.sql").read_text(), "node")
        # Waiting readers ask by number, which the schema of the peer in Go has no index for.
        self._cluster.sql("CREATE INDEX ON activity_logs (workspace_id, seq)", "node")
        self.run(["node", str(node_packages.FOLDER / "form_server.mjs")], self.port, PORT=str(self.port),
                 NODE_ENV="production", PGHOST=self._cluster.folder, PGPORT="5432", PGUSER="postgres",
                 PGDATABASE="node")
        self.register_all()

    def roots(self):
        return [*super().roots(), self._cluster.postmaster()]

    def wakes(self, count):
        return ParkedPolls(self, count)

    def empty(self):
        self._cluster.sql("TRUNCATE pending_uploads, activity_logs; CHECKPOINT", "node")
