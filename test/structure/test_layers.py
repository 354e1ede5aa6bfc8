"""The rooms of the source tree and who may include whom: every #include is held to the table in
docs/architecture.md. A room may include itself, the rooms listed for it, and rooms below a listed one."""

import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = SOURCE / "docs" / "architecture.md"
NOT_ROOMS = {"bench", "build", "test"}

# Third-party headers that only some rooms may see.
GUARDED = {
    "libpq-fe.h": {"storage/pq"},
    "boost/beast/": {"http", "server", "client"},
    "openssl/ssl.h": {"http", "client"},
}


def read_table(text):
    """{room: rooms it may include}, from the table between the two marks."""
    marked = re.search(r"<!-- rooms -->\n(.*?)<!-- end of rooms -->", text, re.DOTALL).group(1)
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in marked.splitlines() if line.startswith("| `")]
    return {re.findall(r"`([^`]+)/`", row[0])[0]: set(re.findall(r"`([^`]+)`", row[2])) for row in rows}


def is_within(room, outer):
    return room == outer or room.startswith(outer + "/")


def room_of(path, rooms):
    """The innermost room that holds this path; None outside all of them."""
    holding = [room for room in rooms if path.startswith(room + "/")]
    return max(holding, key=len) if holding else None


def find_violations(sources, rooms):
    """One sentence for each include that the table does not allow. `sources` maps paths to texts."""
    found = []
    for path, text in sources.items():
        here = room_of(path, rooms)
        if here is None:
            found.append(f"{path} is in no room of the table")
            continue
        for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
            there = room_of(included, rooms)
            if there is None or there == here or any(is_within(there, each) for each in rooms[here]):
                continue
            found.append(f"{path} includes {included}: {here} may not see {there}")
        for header, allowed in GUARDED.items():
            if re.search(rf"^\s*#\s*include\s+<{re.escape(header)}", text, re.MULTILINE) \
                    and not any(is_within(here, each) for each in allowed):
                found.append(f"{path} includes <{header}>, which only {sorted(allowed)} may see")
        if "pq::result_set" in text and not is_within(here, "storage"):
            found.append(f"{path} uses pq::result_set, which stays inside storage/")
    return found


def read_sources():
    paths = [path.relative_to(SOURCE) for pattern in ("*/**/*.cpp", "*/**/*.hpp") for path in SOURCE.glob(pattern)]
    return {str(path): (SOURCE / path).read_text() for path in paths
            if path.parts[0] not in NOT_ROOMS and not path.parts[0].startswith(".")}


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rooms = read_table(TABLE.read_text())
        cls.sources = read_sources()

    def test_every_include_is_allowed_by_the_table(self):
        self.assertGreater(len(self.sources), 200)
        self.assertEqual(find_violations(self.sources, self.rooms), [])

    def test_every_row_names_a_folder_and_rooms_of_the_table(self):
        for room, visible in self.rooms.items():
            self.assertTrue((SOURCE / room).is_dir(), room)
            for each in visible:
                self.assertTrue(any(is_within(other, each) for other in self.rooms), f"{room}: {each}")

    def test_no_two_rooms_see_each_other(self):
        for room, visible in self.rooms.items():
            for other, seen in self.rooms.items():
                if other != room and any(is_within(other, each) for each in visible):
                    self.assertFalse(any(is_within(room, each) for each in seen), f"{room} and {other}")

    def test_an_upward_include_is_found(self):
        self.assertEqual(find_violations({"core/x.hpp": '#include "http/net/connection.hpp"\n'}, self.rooms),
                         ["core/x.hpp includes http/net/connection.hpp: core may not see http/net"])
        self.assertEqual(len(find_violations({"server/x.cpp": "#include <libpq-fe.h>\n"}, self.rooms)), 1)
        self.assertEqual(len(find_violations({"nowhere/x.cpp": ""}, self.rooms)), 1)
        self.assertEqual(len(find_violations({"auth/x.cpp": "pq::result_set rows;"}, self.rooms)), 1)


if __name__ == "__main__":
    unittest.main()
