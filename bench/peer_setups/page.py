"""The table of bench/peers in Markdown, and the pages that have it."""

import re

import peer_setups
from figures import readable
from harness import ROOT, say

COLUMNS = {"upload-10k": "uploads/s, 10 KiB", "upload-1m": "1 MiB", "fetch-10k": "fetches/s, 10 KiB",
           "fetch-1m": "1 MiB"}
PAGES = {"docs/performance.md": True, "README.md": False}  # and whether the words go there, too


def cell(peer, kind, work):
    if work in peer:
        return readable(peer[work]["rate"])
    if peer["not measured"].get("set-up") or work in peer["not measured"]:
        return "failed"
    return kind.instead.get(work.split("-")[0], "–")


def waking_cells(peer):
    if "wake" in peer:
        return [readable(peer["wake"][name]) for name in ("p50_ms", "p99_ms")]
    return ["failed" if {"set-up", "wake"} & set(peer["not measured"]) else "–"] * 2


def table(results):
    kinds = {kind.name: kind for kind in peer_setups.ALL}
    head = ["", "what is confirmed is", *COLUMNS.values(), "told after p50, ms", "p99, ms"]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "--:|" * (len(head) - 2)]
    for peer in results["peers"]:
        kind = kinds[peer["name"]]
        cells = [kind.what, kind.kept, *(cell(peer, kind, work) for work in COLUMNS), *waking_cells(peer)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def words(results):
    """Below the table: what each confirmation means, and what could not be measured."""
    lines = [f"- **{peer['name']}** ({peer['protocol']}). Durable: {peer['durability']}." for peer in results["peers"]]
    for peer in results["peers"]:
        if "slots_per_second" in peer["notes"]:
            lines.append(f"- Slots of {peer['name']}: {readable(peer['notes']['slots_per_second'])} a second.")
        lines += [f"- Requests that failed: {peer['name']}, {work}: {peer[work]['bad']:.0f}."
                  for work in COLUMNS if peer.get(work, {}).get("bad")]
        lines += [f"- Not measured: {peer['name']}, {what}: {why}." for what, why in peer["not measured"].items()]
    others = results["others"]
    lines.append(f"- While they were measured, other processes had {others['median']:.0%} of the cores (median), "
                 f"{others['most']:.0%} at most.")
    return "\n".join(lines)


def fill(results):
    """Writes the table into the pages. One that lacks a peer or a column would be taken for the whole."""
    complete = len(results["peers"]) == len(peer_setups.ALL) and all(
        any(work in peer for peer in results["peers"]) for work in (*COLUMNS, "wake"))
    if not complete:
        say("the table is not complete, so it is not written into the pages")
        return
    for name, with_words in PAGES.items():
        path = ROOT / name
        made = table(results) + ("\n\n" + words(results) if with_words else "")
        text, found = re.subn(r"(<!-- peers: made by bench/peers -->\n).*?(<!-- end of peers -->)",
                              lambda at: f"{at[1]}{made}\n{at[2]}", path.read_text(), flags=re.S)
        if found != 1:
            say(f"{name} has no place for the table")
            continue
        path.write_text(text)
