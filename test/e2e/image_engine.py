"""Podman with storage of its own, and a base image that debootstrap has made: no registry is asked for anything."""

import pathlib
import shutil
import subprocess


# Podman raises limits, which root may not do everywhere; these are lower than what root has.
LIMITS = ["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"]


class ImageEngine:
    def __init__(self, folder):
        # With runc it also works where version 1 and 2 of control groups are mixed, which crun refuses.
        runtime = ["--runtime", "runc"] if shutil.which("runc") else []
        self._words = ["podman", "--root", f"{folder}/storage", "--runroot", f"{folder}/run", "--tmpdir", f"{folder}/tmp",
                       "--storage-driver", "overlay", "--cgroup-manager", "cgroupfs", "--events-backend", "none", *runtime]

    def command(self, *words):
        """What it mounts ends with it."""
        return ["unshare", "--mount", "--propagation", "private", *self._words, *words]

    def run(self, *words, within=300):
        """(exit code, everything that it said)."""
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=within, cwd="/")
        return done.returncode, done.stdout

    def checked(self, *words, **how):
        code, said = self.run(*words, **how)
        if code != 0:
            raise AssertionError(f"podman {' '.join(words)} ended with {code}:\n{said[-4000:]}")
        return said.strip()

    def add_base(self, tree, *names):
        """The tree as an image with these names."""
        packed = pathlib.Path(f"{tree.root}.tar")
        subprocess.run(["tar", "-C", str(tree.root), "--numeric-owner", "-cf", str(packed), "."], check=True)
        self.checked("import", "--quiet", str(packed), names[0])
        packed.unlink()
        for name in names[1:]:
            self.checked("tag", names[0], name)


def why_no_engine():
    if not shutil.which("podman"):
        return "there is no podman"
    return None
