"""Disks that can fill up: a small tmpfs for PostgreSQL's data or its WAL."""

import contextlib
import os
import shutil
import subprocess
import tempfile


class NotAllowed(Exception):
    """Mounting requires root."""


class SmallDisk(contextlib.AbstractContextManager):
    def __init__(self, size):
        if os.geteuid() != 0:
            raise NotAllowed("NOT RUN: only root may mount the small tmpfs that this test fills")
        self.size = size
        self.folder = None

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="restante-disk-", dir="/tmp")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size},mode=0700", "tmpfs", self.folder],
                       check=True)
        shutil.chown(self.folder, "postgres", "postgres")
        return self

    def __exit__(self, *_):
        # Lazily, because the cluster that uses it is stopped and removed only after its databases.
        subprocess.run(["umount", "--lazy", self.folder], check=True)
        os.rmdir(self.folder)

    def fill(self):
        """Writes until there is no byte left."""
        with open(os.path.join(self.folder, "filler"), "wb", buffering=0) as filler:
            for block in (1 << 20, 1 << 12):
                with contextlib.suppress(OSError):
                    while True:
                        filler.write(bytes(block))

    def empty(self):
        os.remove(os.path.join(self.folder, "filler"))


class DataDisk(SmallDisk):
    """Holds the database, in its own tablespace; the WAL is elsewhere."""

    def attach(self, cluster):
        """Returns the CREATE DATABASE clause that places the data here."""
        cluster.query(f"CREATE TABLESPACE small LOCATION '{self.folder}'")
        return "TABLESPACE small"


class WalDisk(SmallDisk):
    """Holds the WAL of a cluster; the data is elsewhere."""

    def attach(self, cluster):
        cluster.query("ALTER SYSTEM SET max_wal_size = '64MB'")
        cluster.query("ALTER SYSTEM SET min_wal_size = '32MB'")
        cluster.stop("fast")
        log = f"{cluster.folder}/data/pg_wal"
        subprocess.run(["cp", "-a", f"{log}/.", f"{self.folder}/wal"], check=True)
        shutil.rmtree(log)
        os.symlink(f"{self.folder}/wal", log)
        cluster.start()
        return ""
