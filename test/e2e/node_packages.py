"""What others have written, from npm: node/package-lock.json pins it."""

import pathlib
import shutil
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent / "node"


def install():
    """./check has done it; whoever runs a test alone gets it here."""
    wanted, there = FOLDER / "package-lock.json", FOLDER / "node_modules" / ".installed"
    if there.exists() and there.read_bytes() == wanted.read_bytes():
        return
    subprocess.run([shutil.which("npm") or "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                   cwd=FOLDER, check=True, capture_output=True, timeout=300)
    there.write_bytes(wanted.read_bytes())
