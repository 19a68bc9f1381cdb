#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of flame graphs: their colours, and which are joined. test_frames.py STROBE [-k NAME]."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
from test_page import STROBE, Pages, report, write  # noqa: E402

SECTION = "section:not([hidden])"
WORKER = "worker(int, int)"


def node(name, image, line, count=0, children=()):
    return {"name": name, "image": image, "offset": 4096 + line, "file": "/src/x.c", "line": line, "children": list(children), "count": count, "bytes": 16 * count}


def result(images, **more):
    """The worker of the first image calls malloc of the second one from three lines."""
    own, libc = images
    calls = [node(WORKER, own, line, 0, [node("malloc", libc, 0, count)]) for line, count in ((10, 6), (20, 3), (30, 1))]
    tree = node("main", own, 1, 0, calls)
    return {"strobe": {"version": 1, "tool": "paths"}, "mode": "func", "k": "inf", "threads": [{"thread": 1, "ksf": [tree], "kccf": []}], **more}


class Frames(Pages):
    def page_of(self, name, made):
        path, done = report(self.place.name, f"{name}.html", write(self.place.name, f"{name}.json", made))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def frames(self):
        """Names and values of all frames, the root first."""
        return self.page.js(f"[...document.querySelectorAll('{SECTION} g.frame')].map(g => [g.__data__.data.name, g.__data__.data.value]).slice(1).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))")

    def colours(self):
        return self.page.js(f"Object.fromEntries([...document.querySelectorAll('{SECTION} .flame-image')].map(e => [e.title, e.firstChild.style.getPropertyValue('--colour').split(' ')[0]]))")

    def test_an_image_has_the_same_colour_on_every_page(self):
        self.open("flame", self.page_of("one", result(("/usr/bin/app", "/usr/lib/libc.so.6"))))
        first = self.colours()
        self.open("flame", self.page_of("two", result(("/usr/lib/libc.so.6", "/usr/bin/app"))))
        self.assertEqual(self.colours(), first)
        self.assertEqual(first["/usr/lib/libc.so.6"], "hsl(208")
        self.assertNotEqual(first["/usr/bin/app"], "hsl(208")

    def test_frames_of_one_function_are_joined(self):
        """Nodes of allocations have the lines of calls."""
        path = self.page_of("alloc", result(("/usr/bin/app", "/usr/lib/libc.so.6"), counted="allocations"))
        self.open("flame?metric=count", path)
        self.assertEqual(self.frames(), [["main", 10], ["malloc", 10], [WORKER, 10]])
        self.open("flame?metric=count&group=lines", path)
        self.assertEqual(self.frames(), [["main", 10], ["malloc", 6], [WORKER, 6], ["malloc", 3], [WORKER, 3], ["malloc", 1], [WORKER, 1]])
        self.open("callgraph?metric=count", path)
        self.assertEqual(self.page.js(f"[...document.querySelectorAll('{SECTION} g.node')].map(e => e.getAttribute('aria-label').split(':')[0]).sort()"), ["main", "malloc", WORKER])

    def test_other_results_have_no_lines(self):
        self.open("flame", self.page_of("calls", result(("/usr/bin/app", "/usr/lib/libc.so.6"))))
        self.assertEqual(self.page.js(f"[...document.querySelectorAll('{SECTION} .choice')].find(e => e.textContent.startsWith('Frames')).querySelector('select').options.length"), 2)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
