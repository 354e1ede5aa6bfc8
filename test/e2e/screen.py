"""What a terminal shows: enough of a VT100 to read the screen of a program that draws progress."""

import re


class Screen:
    def __init__(self, columns=100, rows=24):
        self.columns, self.rows = columns, rows
        self.lines = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.unknown = []  # sequences that this terminal does not know: garbage to the user

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip()

    def feed(self, data):
        for match in re.finditer(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b.|.|\n", data, re.DOTALL):
            if match.group(2):
                self._sequence(match.group(1), match.group(2))
            elif match.group(0).startswith("\x1b"):
                self.unknown.append(match.group(0))
            else:
                self._character(match.group(0))

    def _sequence(self, numbers, letter):
        first = int(numbers.split(";")[0] or 0) if not numbers.startswith("?") else 0
        if letter == "A":
            self.row = max(0, self.row - max(1, first))
        elif letter == "J" and first == 0:
            self.lines[self.row][self.column:] = [" "] * (self.columns - self.column)
            for line in self.lines[self.row + 1:]:
                line[:] = [" "] * self.columns
        elif letter != "m":
            self.unknown.append(f"\\e[{numbers}{letter}")

    def _character(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._next_line()
        elif character >= " ":
            if self.column == self.columns:
                self.column = 0
                self._next_line()
            self.lines[self.row][self.column] = character
            self.column += 1
        else:
            self.unknown.append(repr(character))

    def _next_line(self):
        if self.row + 1 < self.rows:
            self.row += 1
        else:
            self.lines = self.lines[1:] + [[" "] * self.columns]
