"""Profiles the server with perf and counts its system calls with strace: bench/run profile."""

import collections
import pathlib
import re
import signal
import subprocess
import tempfile
import urllib.request

from harness import Bench, fail, require_programs, running_server, say

WORKS = ["upload:10KiB", "upload:1MiB", "fetch:10KiB", "fetch:1MiB", "poll:10"]

# Stages of user time. A sample belongs to the first pattern that matches its leaf, written "object symbol".
# Debian's libcrypto and libpq have no symbols. Without TLS, libcrypto only hashes and makes random ids.
STAGES = [
    ("hashes and random ids", r"libcrypto|sha256|EVP_"),
    ("copying and searching bytes", r"mem(cpy|move|set|chr|cmp)"),
    ("allocation", r"malloc|free|calloc|realloc|operator (new|delete)|_int_|unlink_chunk|tcache"),
    ("libpq", r"libpq"),
    ("multipart and spool", r"multipart|form_builder|read_form|spool"),
    ("HTTP: head, routes, answer",
     r"beast|head_scanner|request_gate|match_route|parse_origin_form|field_grammar|http_exchange|"
     r"http_session|make_head|response|connection::|net_stream|body_reader"),
    ("JSON, ids, times", r"json|uuid|manifest|timestamp|to_hex|feed_page|row::as_tuple"),
    ("Asio and coroutines", r"boost::asio|awaitable"),
    ("logs and metrics", r"log_line|metrics|observe"),
    ("the rest of restante", r"restante"),
]

# The same for kernel time, by the libc function that made the system call.
CALLS = [
    ("kernel: send to PostgreSQL", r"^(__libc_|__)?send(to)?$"),
    ("kernel: answer to the client", r"sendmsg|writev"),
    ("kernel: receive", r"recv|^(__libc_|__)?read$|readv$"),
    ("kernel: epoll and timers", r"epoll|timerfd|eventfd"),
    ("kernel: waking and waiting of threads", r"pthread|futex|lll_|cond"),
    ("kernel: spool file", r"pread|pwrite|open|close|fallocate"),
    ("kernel: log line, wake-up of a loop", r"write"),
]


def first_match(text, table, otherwise):
    return next((stage for stage, pattern in table if re.search(pattern, text)), otherwise)


def stage_of(frames):
    """The stage of one sample. Frames are (symbol, object), the leaf first."""
    symbol, place = frames[0]
    if "kernel" not in place:
        return first_match(f"{place} {symbol}", STAGES, "the rest")
    entered_by = next((name for name, where in frames if "kernel" not in where), "")
    interrupted = any("asm_" in name for name, _ in frames)
    otherwise = "kernel: faults, interrupts"
    return otherwise if interrupted else first_match(entered_by, CALLS, otherwise)


def samples(recorded):
    command = ["perf", "script", "-i", recorded, "-F", "ip,sym,dso"]
    script = subprocess.run(command, capture_output=True, text=True).stdout
    for block in script.split("\n\n"):
        frames = []
        for line in block.splitlines():
            parsed = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if parsed:
                frames.append((parsed[1], parsed[2]))
        if frames:
            yield frames


def sample(processes, work):
    """Samples these processes while work() runs."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = str(pathlib.Path(folder) / "perf.data")
        perf = subprocess.Popen(["perf", "record", "-q", "-F", "997", "-g", "-o", recorded, "-p", processes],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        work()
        perf.send_signal(signal.SIGINT)
        _, errors = perf.communicate(timeout=60)
        taken = list(samples(recorded))
    if not taken:
        fail("perf recorded nothing: " + errors.decode(errors="replace"))
    return taken


def profile(bench, work):
    """Counts stages and leaf symbols of the server under this workload."""
    stages, leaves = collections.Counter(), collections.Counter()
    for frames in sample(str(bench.server.process.pid), lambda: bench.run(work)):
        stages[stage_of(frames)] += 1
        symbol, place = frames[0]
        leaves[f"{re.sub(r'[(<].*', '', symbol) or symbol}  [{pathlib.Path(place).name}]"] += 1
    return stages, leaves


# Parts of PostgreSQL's CPU time in an upload of 10 KiB. Some contain others, so they do not add up.
POSTGRES_PARTS = {
    "publishing, all of it": "plpgsql_exec_function",
    "storing the bytes (TOAST)": "toast_save_datum",
    "flushing WAL at commit": "XLogFlush",
    "index entries": "ExecInsertIndexTuples",
    "CHECK constraints": "ExecConstraints",
    "setting up statements": "standard_ExecutorStart",
}


def profile_postgres(bench):
    """The share of the sessions' CPU during which each part was on the stack."""
    children = subprocess.run(["pgrep", "-P", str(bench.server.postmaster)], capture_output=True,
                              text=True).stdout
    taken = sample(",".join(children.split()), lambda: bench.run("upload:10KiB", show=False))
    chains = [{symbol for symbol, _ in frames} for frames in taken]
    return {part: sum(symbol in chain for chain in chains) / len(chains)
            for part, symbol in POSTGRES_PARTS.items()}


def requests_so_far(server):
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return sum(float(value) for value in re.findall(r"^molecule_http_requests_total\S* (\S+)$", text, re.M))


def system_calls(bench, work):
    """System calls per request, by name."""
    with tempfile.NamedTemporaryFile("r") as out:
        before = requests_so_far(bench.server)
        strace = subprocess.Popen(["strace", "-c", "-f", "-qq", "-o", out.name, "-p",
                                   str(bench.server.process.pid)], stderr=subprocess.DEVNULL)
        bench.run(work, "--warm-up", "0", show=False, seconds=3)
        strace.send_signal(signal.SIGINT)
        strace.wait(timeout=60)
        made = requests_so_far(bench.server) - before
        rows = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)$", out.read(), re.M)
    return {name: int(count) / made for count, name in rows if name != "total" and int(count) / made >= 0.005}


def print_profile(work, stages, leaves):
    total = sum(stages.values())
    print(f"\n{work}: share of the server's CPU, {total} samples")
    for stage, count in stages.most_common():
        print(f"  {100 * count / total:5.1f} %  {stage}")
    print("  most frequent functions:")
    for leaf, count in leaves.most_common(12):
        print(f"  {100 * count / total:5.1f} %    {leaf}", flush=True)
    return {"id": "profile " + work, "stages": {stage: count / total for stage, count in stages.items()}}


def print_postgres_parts(parts):
    print("\nupload:10KiB: share of PostgreSQL's CPU; some parts contain others")
    for part, share in sorted(parts.items(), key=lambda each: -each[1]):
        print(f"  {100 * share:5.1f} %  {part}", flush=True)
    return {"id": "postgres upload:10KiB", "parts": parts}


def print_calls(work, calls):
    most_first = sorted(calls.items(), key=lambda each: -each[1])
    names = ", ".join(f"{name} {count:.2f}" for name, count in most_first)
    print(f"\n{work}: {sum(calls.values()):.1f} system calls per request: {names}", flush=True)
    return {"id": "system calls " + work, "calls": calls}


def run(given):
    require_programs({"perf": "linux-perf", "strace": "strace"})
    figures = []
    with running_server() as server:
        bench = Bench(server, given.seconds)
        for work in WORKS:
            figures.append(print_profile(work, *profile(bench, work)))
            server.delete_files()
        figures.append(print_postgres_parts(profile_postgres(bench)))
        server.delete_files()
        for work in WORKS:
            say(f"counting the system calls of {work} …")
            figures.append(print_calls(work, system_calls(bench, work)))
            server.delete_files()
    return figures
