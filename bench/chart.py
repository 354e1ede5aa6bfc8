"""Draws small charts, two in a row, in one SVG: the number of things on the x axis, the cost of one on the y axis.

The x axis is logarithmic and the y axis linear from zero, so a flat line is a cost that does not grow.
"""

import dataclasses
import html
import math

from figures import readable

WIDTH = 880
PANEL_WIDTH, PANEL_HEIGHT = 400, 240
LEFT, TOP, RIGHT, BOTTOM = 52, 52, 24, 44  # margins of the plot in its panel

STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600; fill: #1f2328 }
.value { font-weight: 600; fill: #1f2328 }
.grid { stroke: #d8dee4; stroke-width: 1 }
.axis { stroke: #8c959f; stroke-width: 1 }
.line { fill: none; stroke: #0969da; stroke-width: 2; stroke-linejoin: round }
.area { fill: #0969da; fill-opacity: 0.08 }
.dot { fill: #ffffff; stroke: #0969da; stroke-width: 2 }
.second { stroke: #bf3989 }
.third { stroke: #1a7f37 }
.fourth { stroke: #9a6700 }
"""
KINDS = ["", " second", " third", " fourth"]  # of lines, in their order


@dataclasses.dataclass
class Panel:
    title: str
    things: str
    unit: str
    points: list  # (number of things, cost of one)
    lines: dict = dataclasses.field(default_factory=dict)  # or several such lists by name, and points empty

    sizes: bool = False  # the things are bytes

    def all_points(self):
        return [*self.points, *(point for points in self.lines.values() for point in points)]


def short(count):
    """1000000 as 1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:g}{letter}"
    return f"{count:g}"


def short_size(count):
    """1048576 as 1Mi."""
    for size, name in ((1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")):
        if count >= size:
            return f"{count / size:g}{name}"
    return f"{count:g}"


def top_of_scale(highest):
    """Returns a round number above the highest value, and the distance between grid lines."""
    step = 10 ** math.floor(math.log10(highest))
    for factor in (0.2, 0.5, 1, 2, 5):
        if math.ceil(1.25 * highest / (step * factor)) <= 5:
            return math.ceil(1.25 * highest / (step * factor)) * step * factor, step * factor
    return 10 * step, 2 * step


def text(x, y, content, anchor="middle", kind=""):
    attributes = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}"'
    return f"<text {attributes}>{html.escape(content)}</text>"


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


class Plot:
    """Maps a panel's numbers to coordinates in its plot."""

    def __init__(self, panel):
        # Zero has no logarithm: it is drawn one power of ten to the left of the smallest other number.
        points = panel.all_points()
        self._zero = math.log10(min(count for count, _ in points if count)) - 1
        steps = [self._step(count) for count, _ in points]
        self._first, self._last = min(steps), max(steps)
        self.top, self.grid = top_of_scale(max(cost for _, cost in points))

    def _step(self, count):
        return math.log10(count) if count else self._zero

    def x(self, count):
        share = (self._step(count) - self._first) / ((self._last - self._first) or 1)
        return LEFT + 20 + share * (PANEL_WIDTH - LEFT - RIGHT - 40)

    def y(self, cost):
        return PANEL_HEIGHT - BOTTOM - cost / self.top * (PANEL_HEIGHT - TOP - BOTTOM)


def draw_panel(panel, left, top):
    plot, floor = Plot(panel), PANEL_HEIGHT - BOTTOM
    right = PANEL_WIDTH - RIGHT
    out = [f'<g transform="translate({left} {top})">', text(LEFT, 22, panel.title, "start", "title"),
           text(LEFT, 40, panel.unit, "start")]
    for i in range(1, round(plot.top / plot.grid) + 1):
        height = plot.y(i * plot.grid)
        out += [line(LEFT, height, right, height, "grid"),
                text(LEFT - 8, height + 4, f"{i * plot.grid:g}", "end")]
    out += [line(LEFT, floor, right, floor, "axis"), text(LEFT - 8, floor + 4, "0", "end")]
    out += draw_points(panel, plot, floor) if panel.points else draw_lines(panel, plot)
    for count in sorted({count for count, _ in panel.all_points()}):
        out.append(text(plot.x(count), floor + 18, short_size(count) if panel.sizes else short(count)))
    out += [text((LEFT + right) / 2, floor + 36, panel.things), "</g>"]
    return out


def polyline(places, kind):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{path}" class="line{kind}"/>'


def draw_points(panel, plot, floor):
    """One line, with the area below it and the number at each point."""
    places = [(plot.x(count), plot.y(cost)) for count, cost in panel.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    area = f"{places[0][0]:.1f},{floor} {path} {places[-1][0]:.1f},{floor}"
    out = [f'<polygon points="{area}" class="area"/>', polyline(places, "")]
    for (_, cost), (x, y) in zip(panel.points, places):
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="dot"/>',
                text(x, y - 11, readable(cost), kind="value")]
    return out


def draw_lines(panel, plot):
    """A line for each name, which stands above the plot in the same colour; the numbers are in a table."""
    out, at = [], LEFT + 120
    for (name, points), kind in zip(panel.lines.items(), KINDS):
        places = [(plot.x(count), plot.y(cost)) for count, cost in points]
        out.append(polyline(places, kind))
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="dot{kind}"/>' for x, y in places]
        out += [f'<line x1="{at}" y1="36" x2="{at + 16}" y2="36" class="line{kind}"/>', text(at + 21, 40, name, "start")]
        at += 37 + 7 * len(name)
    return out


def draw(panels):
    height = 32 + (len(panels) + 1) // 2 * (PANEL_HEIGHT + 24)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
           f'height="{height}" role="img">',
           "<title>The cost of one, as their number grows</title>", f"<style>{STYLE}</style>",
           f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>']
    for i, panel in enumerate(panels):
        out += draw_panel(panel, 24 + i % 2 * (PANEL_WIDTH + 24), 24 + i // 2 * (PANEL_HEIGHT + 24))
    return "\n".join([*out, "</svg>", ""])
