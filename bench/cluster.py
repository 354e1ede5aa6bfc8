"""A PostgreSQL of its own for one benchmark, started and removed by test/support/cluster."""

import pathlib
import subprocess
import sys
import tempfile

CLUSTER = pathlib.Path(__file__).resolve().parent.parent / "test/support/cluster"


def psql(conninfo, text):
    """Runs SQL and returns its output without decoration. Ends the program if PostgreSQL reports an error."""
    done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", conninfo], input=text, text=True,
                          capture_output=True)
    if done.returncode:
        sys.exit("bench: PostgreSQL reported an error: " + done.stderr.strip())
    return done.stdout.strip()


class Cluster:
    """Runs inside a with statement."""

    def __init__(self):
        self.folder = tempfile.mktemp(prefix="restante-bench-", dir="/tmp")

    def __enter__(self):
        try:
            subprocess.run([CLUSTER, "start", self.folder], check=True)
        except BaseException:  # it may be running already
            subprocess.run([CLUSTER, "stop", self.folder], check=False, start_new_session=True)
            raise
        return self

    def __exit__(self, *_):
        subprocess.run([CLUSTER, "stop", self.folder], check=True, start_new_session=True)

    def conninfo(self, database="postgres"):
        return f"host={self.folder} port=5432 user=postgres dbname={database}"

    @property
    def postmaster(self):
        return int(pathlib.Path(self.folder, "data/postmaster.pid").read_text().split()[0])

    def sql(self, text, database="postgres"):
        return psql(self.conninfo(database), text)
