"""Installs what node/package-lock.json pins, if that has changed, as ./check does for its clients."""

import pathlib
import shutil
import subprocess
import sys

from .peer import NotPossible

FOLDER = pathlib.Path(__file__).resolve().parent / "node"


def install():
    lock, installed = FOLDER / "package-lock.json", FOLDER / "node_modules/.installed"
    if installed.exists() and installed.read_bytes() == lock.read_bytes():
        return
    if not shutil.which("npm"):
        raise NotPossible("npm is not installed: apt-get install nodejs npm")
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FOLDER,
                          stdout=sys.stderr, timeout=300)
    if done.returncode:
        raise NotPossible("npm could not install the packages of bench/peer_setups/node")
    installed.write_bytes(lock.read_bytes())
