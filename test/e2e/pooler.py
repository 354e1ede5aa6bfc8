"""pgbouncer in front of PostgreSQL, on a unix socket of its own."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

from http_wire import await_true
from pg_client import format_conninfo, parse_conninfo

PORT = "6432"


class Pooler:
    """Started by entering it, in the given pool mode."""

    def __init__(self, conninfo, mode):
        self._info = parse_conninfo(conninfo)
        self._mode = mode
        self._folder = tempfile.mkdtemp(prefix="restante-e2e-pooler-", dir="/tmp")
        self.conninfo = format_conninfo({**self._info, "host": self._folder, "port": PORT})
        self._process = None

    def __enter__(self):
        config = os.path.join(self._folder, "pgbouncer.ini")
        with open(config, "w") as out:
            out.write(
                f"[databases]\n"
                f"* = host={self._info['host']} port={self._info.get('port', '5432')} user=postgres\n"
                f"[pgbouncer]\nlisten_addr =\nlisten_port = {PORT}\nunix_socket_dir = {self._folder}\n"
                f"auth_type = any\npool_mode = {self._mode}\ndefault_pool_size = 40\nmax_client_conn = 200\n")
        # It refuses to run as root.
        owner = {}
        if os.geteuid() == 0:
            owner = {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []}
            shutil.chown(self._folder, "postgres")
        with open(os.path.join(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen([shutil.which("pgbouncer", path="/usr/sbin:/usr/bin"), config],
                                             stdout=log, stderr=log, cwd="/", **owner)
        await_true(lambda: os.path.exists(f"{self._folder}/.s.PGSQL.{PORT}"), 20, "pgbouncer listens")
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder)
