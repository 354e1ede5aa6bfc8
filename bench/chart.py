"""Draws four small charts in one SVG: the number of things on the x axis, the cost of one on the y axis.

The x axis is logarithmic and the y axis linear from zero, so a flat line is a cost that does not grow.
"""

import dataclasses
import html
import math

from figures import readable

WIDTH, HEIGHT = 880, 560
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
"""


@dataclasses.dataclass
class Panel:
    title: str
    things: str
    unit: str
    points: list  # (number of things, cost of one)


def short(count):
    """1000000 as 1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:g}{letter}"
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
        self._zero = math.log10(min(count for count, _ in panel.points if count)) - 1
        steps = [self._step(count) for count, _ in panel.points]
        self._first, self._last = min(steps), max(steps)
        self.top, self.grid = top_of_scale(max(cost for _, cost in panel.points))

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
    places = [(plot.x(count), plot.y(cost)) for count, cost in panel.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    area = f"{places[0][0]:.1f},{floor} {path} {places[-1][0]:.1f},{floor}"
    out += [f'<polygon points="{area}" class="area"/>',
            f'<polyline points="{path}" class="line"/>']
    for (count, cost), (x, y) in zip(panel.points, places):
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="dot"/>',
                text(x, y - 11, readable(cost), kind="value"), text(x, floor + 18, short(count))]
    out += [text((LEFT + right) / 2, floor + 36, panel.things), "</g>"]
    return out


def draw(panels):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
           f'height="{HEIGHT}" role="img">',
           "<title>The cost of one, as their number grows</title>", f"<style>{STYLE}</style>",
           f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>']
    for i, panel in enumerate(panels):
        out += draw_panel(panel, 24 + i % 2 * (PANEL_WIDTH + 24), 24 + i // 2 * (PANEL_HEIGHT + 24))
    return "\n".join([*out, "</svg>", ""])
