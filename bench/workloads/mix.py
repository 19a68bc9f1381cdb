# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: mix.py ROUNDS. Calls, objects, dictionaries, sorting, regular expressions, JSON, numbers."""
import json
import math
import re
import sys


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y - other.y)


def paths(width, height):
    return 1 if not width or not height else paths(width - 1, height) + paths(width, height - 1)


def primes(limit):
    flags = bytearray([1]) * limit
    for i in range(2, int(limit ** 0.5) + 1):
        if flags[i]:
            for j in range(i * i, limit, i):
                flags[j] = 0
    return sum(flags) - 2


total = 0
for turn in range(int(sys.argv[1])):
    total += paths(8, 8) + primes(150000)
    words = {}
    for i in range(50000):
        word = "w%d" % (i * 7919 % 3001)
        words[word] = words.get(word, 0) + i
    total += sum(sorted(words.values(), reverse=True)[::9])
    text = json.dumps([{"word": k, "n": v, "parts": [v % 7, str(v)]} for k, v in words.items()])
    total += len(json.loads(text)) + len(re.findall(r'"w(\d*[37])"', text))
    point = Vector(0, 0)
    for i in range(60000):
        point = point + Vector(i, 1)
    total += point.x + sum(int(100 * math.sin(i) * math.sqrt(i)) for i in range(50000))
    total += len({tuple(sorted((i * turn % 17, i % 13, i % 7))) for i in range(30000)})
print(total)
