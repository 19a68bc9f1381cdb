#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of forest.py against the figures and listings of Valtchev's thesis (IHPP, 2012), and against itself on random traces."""

import random
import re
import unittest

import forest
from forest import INFINITE, ROOT, plain, truth


def trace(text):
    """`r a b . . .`: enters and, for each dot, a return of what runs; `>f`: by a jump, `^3`: back to depth 3, `@1`: coroutine 1."""
    events, stack = [], []
    for word in text.split():
        if word == ".":
            events.append(("leave", stack.pop()))
            while stack and events and stack[-1].endswith(" jumped away"):
                stack.pop()
        elif word[0] == ">":
            stack[-1] += " jumped away"
            events.append(("tail", word[1:]))
            stack.append(word[1:])
        elif word[0] in "^@":
            events.append(({"^": "back", "@": "switch"}[word[0]], int(word[1:])))
        else:
            events.append(("enter", word))
            stack.append(word)
    return events


def tree(text):
    """`r1(a1(b1) c1)` as forest.plain has it."""
    return plain(forest.read(re.sub(r"(\d+)", r":\1", text)))


def both(events, k, **options):
    return [plain(one) for one in truth(events, k, **options)]


FIGURE_3_1 = trace("r a b . . c a b . b . . . .")
PROG1 = {1: "a b . c . . e d c . c . . c . a b . c . . . e d c . c . . c . a b . c . . .", 2: "a b . f . ."}


class Figures(unittest.TestCase):
    maxDiff = None

    def test_figure_3_2(self):
        """k-contexts and their counts. The thesis's table has two calls of c and a path a, c, which its trace has not."""
        paths = list(forest.contexts(FIGURE_3_1))
        self.assertEqual([tuple(p) for p in paths],
                         [tuple(p) for p in ("r", "ra", "rab", "rc", "rca", "rcab", "rcab")])

    def test_figure_3_3(self):
        self.assertEqual(plain(forest.cct(forest.contexts(FIGURE_3_1))), tree("r1(a1(b1) c1(a1(b2)))"))

    def test_figure_3_4(self):
        for k, want in ((0, "r1 a2 b3 c1"), (1, "r1 a2(r1 c1) b3(a3) c1(r1)"), (2, "r1 a2(r1 c1(r1)) b3(a3(r1 c2)) c1(r1)"),
                        (3, "r1 a2(r1 c1(r1)) b3(a3(r1 c2(r2))) c1(r1)")):
            self.assertEqual(both(FIGURE_3_1, k)[1], tree(want), k)
        self.assertEqual(both(FIGURE_3_1, 4)[1], both(FIGURE_3_1, 3)[1])
        self.assertEqual(both(FIGURE_3_1, INFINITE)[1], both(FIGURE_3_1, 3)[1])

    def test_figure_3_5(self):
        one = forest.cct(["a", "a", "ab", "abd", "abc"])
        other = forest.cct(["a", "ab", "ab", "ac", "abd"])
        self.assertEqual(plain(forest.join([one, other])), tree("a3(b3(d2 c1) c1)"))
        self.assertEqual(plain(forest.join([one, forest.cct(["z"])])), tree("a2(b1(d1 c1)) z1"))

    def test_figures_3_6_to_3_8(self):
        """A CCT with five subtrees at levels that are multiples of 2, of which two have the same root, and two are single nodes."""
        events = trace("r a b . c d . . . e c d . f . . g . . .")
        self.assertEqual(plain(forest.cct(forest.contexts(events))), tree("r1(a1(b1 c1(d1)) e1(c1(d1 f1) g1))"))
        slabs = both(events, 2)[0]
        self.assertEqual(slabs, tree("r1(a1(b1 c1(d1)) e1(c1(d1 f1) g1)) b1 c2(d2 f1) g1"))
        clear = forest.cleared(truth(events, 2)[0], 2, "r")
        self.assertEqual(plain(clear), tree("r1(a1(b1 c1(d1)) e1(c1(d1 f1) g1)) b0 c0(d0 f0) g0"))

    def test_slabs_are_2k_levels(self):
        events = trace("a b c d e f g h . . . . . . . .")
        self.assertEqual(both(events, 1)[0], tree("a1(b1) b1(c1) c1(d1) d1(e1) e1(f1) f1(g1) g1(h1) h1"))
        self.assertEqual(both(events, 2)[0], tree("a1(b1(c1(d1))) c1(d1(e1(f1))) e1(f1(g1(h1))) g1(h1)"))
        self.assertEqual(both(events, 3)[0], tree("a1(b1(c1(d1(e1(f1))))) d1(e1(f1(g1(h1)))) g1(h1)"))


class Listings(unittest.TestCase):
    maxDiff = None

    def joined(self, k):
        parts = [truth(trace(text), k, functions=lambda f: True) for text in PROG1.values()]
        return [plain(forest.join(part)) for part in zip(*parts)]

    def test_listing_4_3(self):
        for thread, want in ((1, "__root__1(a1(b1 c1) e2(d2(c4) c2 a2(b2 c2)))"), (2, "__root__1(a1(b1 f1))")):
            self.assertEqual(both(trace(PROG1[thread]), INFINITE, functions=lambda f: True)[0], tree(want))

    def test_listings_4_4_and_4_5(self):
        self.assertEqual(self.joined(INFINITE)[0], tree("__root__2(a2(b2 c1 f1) e2(d2(c4) c2 a2(b2 c2)))"))
        slabs, inverted = self.joined(2)
        self.assertEqual(slabs, tree("__root__2(a2(b2 c1 f1) e2(d2(c4) c2 a2(b2 c2))) b2 c3 d2(c4) a2(b2 c2) f1"))
        self.assertEqual(inverted, tree("__root__2 a4(__root__2 e2(__root__2)) b4(a4(__root__2 e2)) "
                                        "c9(a3(__root__1 e2) d4(e4) e2(__root__2)) f1(a1(__root__1)) e2(__root__2) d2(e2(__root__2))"))

    def test_listings_4_7_and_4_8(self):
        events = trace("main foo" + " rec" * 6 + " bar ." + " ." * 8)
        self.assertEqual(both(events, INFINITE)[0], tree("main1(foo1(rec6(bar1)))"))
        self.assertEqual(both(events, INFINITE, how="none")[0], tree("main1(foo1(rec1(rec1(rec1(rec1(rec1(rec1(bar1))))))))"))
        self.assertEqual(both(events, 2)[0], tree("main1(foo1(rec6(bar1))) rec6(bar1)"))

    def test_listing_4_10(self):
        events = trace("main foo bar foo bar foo bar . . . . . . .")
        self.assertEqual(both(events, INFINITE)[0], tree("main1(foo1(bar1(foo1(bar1(foo1(bar1))))))"))
        self.assertEqual(both(events, INFINITE, how="cycles")[0], tree("main1(foo3(bar3))"))


class Events(unittest.TestCase):
    maxDiff = None

    def same(self, text, want, **options):
        self.assertEqual(both(trace(text), INFINITE, **options)[0], tree(want))

    def test_selection_comes_first(self):
        self.same("main a q a . . a . . .", "__root__1(a3)", functions=lambda f: f == "a")
        self.same("main a q a . . a . . .", "__root__1(a1(a2))", functions=lambda f: f == "a", how="none")

    def test_cycles_with_branches(self):
        """g stands under f, and so does what f calls when g has called it; after the returns g's callees are g's."""
        self.same("f g f h . . k . . .", "f2(g1(k1) h1)", how="cycles")
        self.same("f g h g f . . . . .", "f2(g2(h1))", how="cycles")

    def test_tail_calls(self):
        self.same("m g >h k . . x . .", "m1(g1(h1(k1)) x1)")
        self.same("m g >h k . . x . .", "m1(g1 h1(k1) x1)", physical=True)
        self.same("m g >h >g >h k . . x . .", "m1(g2(h2(k1)) x1)")
        self.same("m g >h >g >h k . . x . .", "m1(g2 h2(k1) x1)", physical=True)

    def test_a_jump_to_a_function_below_the_frame_is_a_call(self):
        self.same("g m >g . .", "g1(m1(g1))")

    def test_back(self):
        self.same("m a b c ^1 d ^2 e", "m1(a1(b1(c1)) d1(e1))")

    def test_coroutines(self):
        text = "m a @1 c d @0 ^1 b @1 e @0 ^1 x"
        self.same(text, "m1(a1(c1(d1(e1))) b1 x1)")
        self.same(text, "__root__1(m1(a1 b1 x1) c1(d1(e1)))", functions=lambda f: True, bases="root")

    def test_a_root_that_is_entered_again(self):
        """What the thesis says to clear is not enough then: its first tree's top region has counts of two trees."""
        events = trace("r a r a . . . .")
        slabs, inverted = truth(events, 2)
        self.assertEqual(plain(slabs), tree("r2(a2(r1(a1)))"))
        self.assertEqual(plain(inverted), tree("r2(a1(r1)) a2(r2(a1))"))
        self.assertNotEqual(plain(forest.inverse(forest.cleared(slabs, 2, "r"), 2)), plain(inverted))

    def test_written_forests(self):
        text = "a::b:1(c:2(d:3) e:4) f"
        self.assertEqual(plain(forest.read(text)), {"a::b": (1, {"c": (2, {"d": (3, {})}), "e": (4, {})}), "f": (None, {})})
        self.assertEqual(forest.show(plain(forest.read(text))), text)

    def test_wrong_traces_are_refused(self):
        with self.assertRaises(ValueError):
            truth([("enter", "a"), ("leave", "b")], 2)
        with self.assertRaises(ValueError):
            truth([("enter", "a"), ("stop", "a")], 2)


class Blocks(unittest.TestCase):
    """Listings 4.14, 4.17 and 4.24, but that what a block falls into is a block of its own."""

    maxDiff = None
    text = "foo( +0 +12 p( +0 ) +24 +33 p( +0 ) +45 +33 p( +0 ) +45 +67 foo( +0 +69 p( +0 ) +81 ) +81 )"

    def test_intra(self):
        found = {name: plain(forest.slabs_of_paths(paths, INFINITE)[0]) for name, paths in forest.intra(self.text, "none").items()}
        want = "foo+0:2(foo+12:1(foo+24:1(foo+33:1(foo+45:1(foo+33:1(foo+45:1(foo+67:1(foo+81:1))))))) foo+69:1(foo+81:1))"
        self.assertEqual(found, {"foo": plain(forest.read(want)), "p": plain(forest.read("p+0:4"))})

    def test_rolled_loops(self):
        slabs, inverted = forest.slabs_of_paths(forest.intra(self.text, "cycles")["foo"], INFINITE)
        want = "foo+0:2(foo+12:1(foo+24:1(foo+33:2(foo+45:2(foo+67:1(foo+81:1))))) foo+69:1(foo+81:1))"
        self.assertEqual(plain(slabs), plain(forest.read(want)))
        self.assertEqual(plain(inverted)["foo+24"], plain(forest.read("foo+24:1(foo+12:1(foo+0:1))"))["foo+24"])

    def test_inter(self):
        slabs = forest.slabs_of_paths(forest.inter("a( +0 b( +0 ) +3 b( +0 ) )", "none"), INFINITE)[0]
        self.assertEqual(plain(slabs), plain(forest.read("__root__:1(a+0:1(b+0:1(a+3:1(b+0:1))))")))
        slabs = forest.slabs_of_paths(forest.inter("a( +0 b( +0 ) +3 b( +0 ) )", "cycles"), 1)[0]
        self.assertEqual(plain(slabs), plain(forest.read("__root__:1(a+0:1) a+0:1(b+0:2) b+0:2(a+3:1) a+3:1")))


def random_trace(dice):
    """Of a program with 6 functions and coroutines, in which everything happens. `alive`: depths of the activations that did not jump away."""
    events, alive, current = [("enter", "r")], {0: [1]}, 0
    for _ in range(dice.randrange(60)):
        what, stack = dice.random(), alive[current]
        if what < .5 or not stack:
            events.append(("enter", dice.choice("abcdef")))
            stack.append(stack[-1] + 1 if stack else 1)
        elif what < .6:
            events.append(("tail", dice.choice("abcdef")))
            stack[-1] += 1
        elif what < .95:
            del stack[dice.randint(1, len(stack)):]
            events.append(("back", stack[-1]))
        else:
            current = dice.randrange(3)
            alive.setdefault(current, [])
            events.append(("switch", current))
    return events


class Random(unittest.TestCase):
    def test_definitions_agree(self):
        """truth() compares definition 7 with listing 3.2 and definition 5 with definition 6."""
        dice = random.Random(7)
        for _ in range(300):
            events = random_trace(dice)
            functions = dice.choice([None, lambda f: True, lambda f: f in "abc"])
            options = {"functions": functions, "how": dice.choice(forest.ROLLS), "physical": dice.random() < .3,
                       "bases": dice.choice(["resumer", "root"])}
            for k in [*range(6), INFINITE]:
                slabs, _ = truth(events, k, **options)
                paths = list(forest.activations(events, **options))
                if functions and k:
                    self.assertEqual(plain(forest.inverse(forest.cleared(slabs, k, ROOT), k)),
                                     plain(forest.kccf_of_paths(paths, k)))


if __name__ == "__main__":
    unittest.main()
