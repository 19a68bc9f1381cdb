# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots as SVG: a figure of panels one above the other, each with axes of its own, in which there are bars, lines and levels. As
little as the benches need, so that they need no library."""
import math
from xml.sax.saxutils import escape, quoteattr

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#555555")
DASHES = (None, "6 3", "2 2")
WIDTH, LEFT, RIGHT, ABOVE, BELOW = 860, 70, 130, 44, 34  # of a figure; around what a panel draws in


def steps(low, high, most=6):
    """Round numbers between the two."""
    raw = (high - low) / most
    unit = 10 ** math.floor(math.log10(raw))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= raw * 0.999)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def number(v):
    return f"{v / 1e6:g} M" if abs(v) >= 1e6 else f"{v / 1e3:g} k" if abs(v) >= 1e4 else f"{round(v, 9):g}"


class Figure:
    def __init__(self, title):
        self.parts, self.height = [], 34
        self.text(LEFT, 22, title, size=15, weight="bold")

    def element(self, tag, text=None, **attributes):
        named = "".join(f" {k.replace('_', '-')}={quoteattr(f'{v:.1f}' if isinstance(v, float) else str(v))}"
                        for k, v in attributes.items() if v is not None)
        self.parts.append(f"<{tag}{named}/>" if text is None else f"<{tag}{named}>{escape(text)}</{tag}>")

    def text(self, x, y, text, anchor="start", size=11, color="#222", **more):
        self.element("text", text, x=float(x), y=float(y), text_anchor=anchor, font_size=size, fill=color, **{f"font_{k}": v for k, v in more.items()})

    def line(self, x1, y1, x2, y2, color, width=1, dashes=None):
        self.element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), stroke=color, stroke_width=width, stroke_dasharray=dashes)

    def write(self, path):
        """Returns the path, for who makes several."""
        with open(path, "w") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" viewBox="0 0 {WIDTH} {self.height}" '
                       'font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")
        return path


class Panel:
    """Below all that its figure has so far. xs, ys: the least and the greatest value; log: the y axis is logarithmic."""

    def __init__(self, figure, title, xs, ys, height=150, log=False):
        self.figure, self.xs, self.log, self.legends = figure, xs, log, 0
        self.ys = [math.log10(v) for v in ys] if log else ys
        self.top = figure.height + ABOVE - 16
        self.bottom = self.top + height
        figure.height = self.bottom + BELOW
        figure.text(LEFT, self.top - 8, title, weight="bold")
        for v in [10 ** k for k in range(math.ceil(self.ys[0]), math.floor(self.ys[1]) + 1)] if log else steps(*ys):
            figure.line(LEFT, self.y(v), WIDTH - RIGHT, self.y(v), "#ddd")
            figure.text(LEFT - 6, self.y(v) + 4, number(v), "end")

    def x(self, v):
        return LEFT + (WIDTH - LEFT - RIGHT) * (v - self.xs[0]) / (self.xs[1] - self.xs[0])

    def y(self, v):
        """What lies beyond the axis is put at its end."""
        v = math.log10(v) if self.log and v > 0 else self.ys[0] if self.log else v
        share = (v - self.ys[0]) / (self.ys[1] - self.ys[0])
        return self.bottom - (self.bottom - self.top) * min(1, max(0, share))

    def below(self, x, text, anchor="middle"):
        """A word at the x axis."""
        self.figure.text(self.x(x), self.bottom + 14, text, anchor)

    def numbers(self, unit):
        """At the x axis."""
        for v in steps(*self.xs, 10):
            self.below(v, number(v))
        self.figure.text(WIDTH - RIGHT + 8, self.bottom + 14, unit)

    def bar(self, x, value, width, color):
        """Around x, from the axis up."""
        left, top = self.x(x - width / 2), self.y(value)
        self.figure.element("rect", x=left, y=top, width=self.x(x + width / 2) - left, height=float(self.bottom - top), fill=color)

    def mark(self, x, value, width, color):
        """A short stroke over x."""
        self.figure.line(self.x(x - width / 2), self.y(value), self.x(x + width / 2), self.y(value), color, 2)

    def level(self, value, text, color="#c00"):
        """A value that is to be kept."""
        self.figure.line(LEFT, self.y(value), WIDTH - RIGHT, self.y(value), color, 1.5, "5 3")
        self.legend(text, color, "5 3")

    def line(self, points, color, dashes=None, dots=False):
        places = [(self.x(x), self.y(y)) for x, y in points]
        self.figure.element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), fill="none", stroke=color, stroke_width=1.5,
                            stroke_dasharray=dashes)
        for x, y in places if dots else []:
            self.figure.element("circle", cx=x, cy=y, r=3, fill=color)

    def legend(self, text, color, dashes=None):
        """On the right, one below the other."""
        y = self.top + 6 + 15 * self.legends
        self.figure.line(WIDTH - RIGHT + 10, y, WIDTH - RIGHT + 32, y, color, 3, dashes)
        self.figure.text(WIDTH - RIGHT + 38, y + 4, text)
        self.legends += 1
