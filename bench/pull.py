"""bench/run pull: how fast `restante-client pull` gets the files of a workspace, beside curl in a loop and aria2c.
The client checks every digest, syncs every file and acks it; the other two only fetch."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import urllib.request

import harness
from figures import readable
from harness import running_server, say

WORKS = {"1,000 files of 10 KiB": (1000, 10 * 1024, 50), "20 files of 25 MiB": (20, 25 * 1024 * 1024, 2)}
ROUNDS = 3
PARALLEL = 4  # the client's default
CLIENT = harness.BUILD / "restante-client"


def upload(server, workspace, token, count, size, at_once):
    """Files of random bytes; returns their ids."""
    ids = []
    for _ in range(0, count, at_once):
        body = b"".join(b'--b\r\nContent-Disposition: form-data; name="files"; filename="f.bin"\r\n\r\n'
                        + os.urandom(size) + b"\r\n" for _ in range(at_once)) + b"--b--\r\n"
        request = urllib.request.Request(f"http://{server.http}/workspaces/{workspace}/chat/uploads", body, {
            "Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=b"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            ids += [file["file_id"] for file in json.load(answer)["files"]]
    return ids


def content_url(server, workspace, file):
    return f"http://{server.http}/workspaces/{workspace}/pending-uploads/{file}/content"


def run_client(server, workspace, token, files, folder):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "RESTANTE_TOKEN": token}
    return [CLIENT, "pull", "--once", "--json", "--server", f"http://{server.http}", "--workspace", workspace, "--into",
            folder / "in"], environment


def run_curl(server, workspace, token, files, folder):
    script = folder / "loop.sh"
    script.write_text(f'mkdir in; while read -r id; do curl -fsS -H "Authorization: Bearer $TOKEN" -o "in/$id" '
                      f'"{content_url(server, workspace, "$id")}"; done < list\n')
    (folder / "list").write_text("".join(file + "\n" for file in files))
    return ["bash", "-e", script], {"PATH": os.environ["PATH"], "TOKEN": token}


def run_aria2c(server, workspace, token, files, folder):
    listed = "".join(f"{content_url(server, workspace, file)}\n out={file}\n" for file in files)
    (folder / "list").write_text(listed)
    return ["aria2c", "--quiet", "--input-file", "list", "--dir", "in", "--max-concurrent-downloads", str(PARALLEL),
            "--file-allocation=none", "--header", f"Authorization: Bearer {token}"], {"PATH": os.environ["PATH"]}


CONTENDERS = {"restante-client pull": run_client, "curl in a loop": run_curl, "aria2c": run_aria2c}


def measure(server, how, count, size, at_once):
    """Seconds until every file is there."""
    workspace, token = server.register()
    files = upload(server, workspace, token, count, size, at_once)
    with tempfile.TemporaryDirectory(prefix="restante-pull-") as name:
        folder = pathlib.Path(name)
        command, environment = how(server, workspace, token, files, folder)
        os.sync()
        began = time.monotonic()
        subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=600)
        seconds = time.monotonic() - began
        arrived = [path for path in (folder / "in").iterdir() if path.stat().st_size == size]
        if len(arrived) != count:
            harness.fail(f"{len(arrived)} of {count} files have arrived")
    server.delete_files()
    return seconds


def run(given):
    harness.require_programs({"curl": "curl", "aria2c": "aria2"})
    harness.build("restante", "restante-client")
    figures = []
    print(f"\n{'work':22} {'with':22} {'files/s':>9} {'MB/s':>9}", flush=True)
    with running_server() as server:
        for work, (count, size, at_once) in WORKS.items():
            times = {name: [] for name in CONTENDERS}
            for turn in range(ROUNDS):
                for name, how in CONTENDERS.items():
                    say(f"{work}, {name}, round {turn + 1} …")
                    times[name].append(measure(server, how, count, size, at_once))
            for name, all_times in times.items():
                seconds = statistics.median(all_times)
                print(f"{work:22} {name:22} {readable(count / seconds):>9} {readable(count * size / seconds / 1e6):>9}",
                      flush=True)
                figures.append({"id": f"pull: {work}, {name}", "rate": count / seconds,
                                "bytes_per_second": count * size / seconds, "seconds": all_times})
    return figures
