"""One PostgreSQL for the peers that need one, with the settings of Restante's own."""

import pathlib

from cluster import Cluster


class SharedCluster(Cluster):
    @property
    def folder(self):
        return self._folder

    def __enter__(self):
        super().__enter__()
        self.sql("ALTER SYSTEM SET max_wal_size = '4GB'; SELECT pg_reload_conf()")
        return self

    def postmaster(self):
        return int((pathlib.Path(self._folder) / "data/postmaster.pid").read_text().split()[0])
