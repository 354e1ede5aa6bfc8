"""A minimal Debian 12 in a directory: packages are installed there, programs run there as their user, and what is left
after a purge is found."""

import os
import pathlib
import re
import signal
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
# What dpkg and its kin write about themselves.
NOT_LEFT = re.compile(r"(var/lib/dpkg|var/log|var/cache|var/lib/apt|var/lib/systemd/deb-systemd|etc/ld\.so\.cache|tmp|proc|dev|run)(/|$)"
                      r"|etc/(passwd|group|shadow|gshadow|subuid|subgid)-$")
# Private to the command: the tree gets its /proc and /dev, and what was mounted ends with it.
MOUNTS = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
ENTER = 'exec chroot "$@"'


class DebianTree:
    def __init__(self, folder, packages):
        """`packages` must include all that will be installed packages depend on: there is no network inside."""
        self.root = pathlib.Path(folder, "tree")
        cache = SOURCE / "build" / "debian-tree"
        subprocess.run([SOURCE / "test" / "support" / "debian_tree", cache, self.root, *packages], check=True, timeout=540,
                       stdout=subprocess.DEVNULL)

    def command(self, *words, user="root", environment=(), writable=None):
        """The words that run these words inside. The process that they start is the program itself. With `writable` the
        root is read-only but for these directories."""
        variables = [f"{name}={value}" for name, value in dict(environment).items()]
        mounts = MOUNTS
        if writable is not None:
            mounts = 'mount --bind "$0" "$0" && cd "$0" && ' + mounts
            mounts += "".join(f'mount --bind "$0{inside}" "$0{inside}" && ' for inside in writable)
            mounts += 'mount -o remount,ro,bind "$0" && '
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounts + ENTER, str(self.root),
                f"--userspec={user}", str(self.root), "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *variables, *words]

    def run(self, *words, **how):
        done = subprocess.run(self.command(*words, **how), capture_output=True, text=True, timeout=300, cwd="/")
        if done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def install(self, *packages):
        for package in packages:
            target = self.root / "tmp" / pathlib.Path(package).name
            target.write_bytes(pathlib.Path(package).read_bytes())
        inside = [f"/tmp/{pathlib.Path(package).name}" for package in packages]
        return self.run("dpkg", "--install", *inside, environment={"DEBIAN_FRONTEND": "noninteractive"})

    def paths(self):
        """Every path inside, without what dpkg keeps for itself."""
        found = set()
        for folder, folders, files in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            names = [os.path.normpath(os.path.join(inside, name)) for name in folders + files]
            found |= {name for name in names if not NOT_LEFT.match(name)}
            folders[:] = [name for name in folders if not NOT_LEFT.match(os.path.normpath(os.path.join(inside, name)))]
        return found

    def users(self):
        return {line.split(":")[0] for name in ("passwd", "group", "shadow")
                for line in (self.root / "etc" / name).read_text().splitlines()}


class Unit:
    """What systemd would do with a unit: its command, user and directory."""

    def __init__(self, path):
        self._lines = re.findall(r"^(\w+)=(.*)$", pathlib.Path(path).read_text(), re.MULTILINE)

    def values(self, key):
        return [value for name, value in self._lines if name == key]

    def value(self, key):
        return self.values(key)[0]

    def command(self):
        return self.value("ExecStart").split()


def stop(process, within=60):
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(within)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
