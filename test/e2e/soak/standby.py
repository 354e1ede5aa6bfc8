"""A standby of a cluster, synchronous unless something else is wanted. Its link to the primary goes through a proxy,
which can stall it: the standby lives and can be asked what it has, and confirms nothing more."""

import contextlib

from http_wire import await_true
from pg_client import Session, format_conninfo, parse_conninfo
from proxy import Proxy
from testbed import run_as_postgres

NAME, PORT = "standby", 5433


class Standby(contextlib.ExitStack):
    def __init__(self, cluster, synchronous=True):
        super().__init__()
        self._cluster, self._data = cluster, f"{cluster.folder}/standby"
        with contextlib.ExitStack() as made:
            self._line = made.enter_context(Proxy(f"{cluster.folder}/.s.PGSQL.5432"))
            run_as_postgres("pg_basebackup", "-h", cluster.folder, "-U", "postgres", "-D", self._data, "-R",
                            "--checkpoint=fast", "--create-slot", "--slot", NAME)
            self._configure()
            self._pg_ctl("start", "-l", f"{cluster.folder}/standby-log")
            made.callback(self._pg_ctl, "stop", "-m", "immediate")
            if synchronous:
                self._require(NAME)
                made.callback(self._require, "")
            self.push(made.pop_all().__exit__)

    @contextlib.contextmanager
    def stalled(self):
        """Nothing passes in either direction, and both ends keep the connection open."""
        self._line.conditions.half_open = True
        try:
            yield
        finally:
            self._line.conditions.half_open = False

    def conninfo(self, database):
        return format_conninfo({**parse_conninfo(database.conninfo), "port": str(PORT)})

    def files(self, database):
        """The names of the files that it has."""
        with Session(self.conninfo(database)) as session:
            return {name for name, in session.query("SELECT filename FROM pending_uploads")}

    def _configure(self):
        """The last of several lines counts. A primary that was restarted is found again quickly."""
        with open(f"{self._data}/postgresql.auto.conf", "a") as file:
            file.write(f"port = {PORT}\nwal_retrieve_retry_interval = 200ms\n"
                       f"primary_conninfo = 'host=127.0.0.1 port={self._line.port} user=postgres "
                       f"application_name={NAME} sslmode=disable gssencmode=disable'\n")

    def _require(self, names):
        """Tells the primary whose confirmation each commit needs."""
        self._cluster.query(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self._cluster.query("SELECT pg_reload_conf()")
        if names:
            await_true(lambda: self._cluster.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"), 30,
                       "the standby is synchronous")

    def _pg_ctl(self, *words):
        run_as_postgres("pg_ctl", "-D", self._data, "-w", "-t", "50", *words)
