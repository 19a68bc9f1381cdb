# SPDX-License-Identifier: GPL-3.0-or-later
"""Calling contexts as their definitions have them: slow, obvious, and without a word of Strobe's. Definitions and listings are those of
V. K. Valtchev, "IHPP: An Intraprocedural Hot Path Profiler" (BSc thesis, Sapienza University of Rome, 2012), chapter 3.

A trace is a list of events of one thread:

    ("enter", f)   f is entered by a call
    ("tail", f)    f is entered by a jump of the function that runs, which does not come back
    ("leave", f)   f returns; functions whose last act was the jump to it return with it
    ("back", d)    the activation at depth d runs again, however those above it have ended (the first one is at depth 1)
    ("switch", c)  coroutine c's stack is the one in use (0: the thread's own)

What was decided where the definitions leave it open:

- Functions that are not selected do not exist: contexts are filtered first and rolled then.
- Rolling simple recursion: a context is its stack with equal neighbours as one. The levels of the slabs are those of the rolled
  contexts, so a k-SF is definition 7 of the rolled CCT.
- Rolling cycles: a function that is in the (rolled) context already goes back to its place in it; what was above is forgotten
  until it returns. No context has a function twice.
- A tail call leads to a child of the function that jumped. When the function that is jumped to is already among those that
  share this stack frame, it goes back to its place among them: a loop of jumps does not grow.
- The stack's view of tail calls (`physical`): who jumps is replaced.
- A coroutine's first function stands in the context that switched to it first (`bases="resumer"`), or at the root ("root").
"""

import re

ROOT = "__root__"
ROLLS = ("simple", "none", "cycles")
INFINITE = float("inf")


class Node:
    """counted: what of the count no other tree of a k-SF counts too; inv_k goes by these (figure 3.8)."""

    __slots__ = ("count", "counted", "children")

    def __init__(self):
        self.count, self.counted, self.children = 0, 0, {}

    def child(self, label):
        node = self.children.get(label)
        if node is None:
            node = self.children[label] = Node()
        return node


def forest():
    """Trees by the labels of their roots; as a node, so that a forest is walked like a tree."""
    return Node()


def join(forests):
    """Definitions 4 and 4*."""
    joined = Node()
    for one in forests:
        join_into(joined, one)
    return joined


def join_into(target, source, depth=INFINITE, visit=None, level=0):
    """Adds the trees below `source`, as far as `depth` levels; `visit(node, level)` says what of a count is counted."""
    for label, node in source.children.items():
        into = target.child(label)
        into.count += node.count
        into.counted += node.counted if visit is None else visit(node, level)
        if level < depth:
            join_into(into, node, depth, visit, level + 1)


# Traces.


class Frame:
    """An activation. `jumped`: it was entered by a jump of the one below. `depth`: how deep the program itself says it is."""

    __slots__ = ("label", "jumped", "depth")

    def __init__(self, label, jumped, depth):
        self.label, self.jumped, self.depth = label, jumped, depth


class Stack:
    """Activations of a thread or a coroutine; `base`: the labels below its first one."""

    def __init__(self, base):
        self.base, self.frames, self.depth = base, [], 0

    def labels(self):
        return self.base + [frame.label for frame in self.frames]

    def enter(self, label, jumped, physical):
        """True when a new activation is on top, false when one of the same stack frame was entered again."""
        self.depth += 1
        if jumped and physical:
            self.frames.pop()
        elif jumped:
            for at in range(len(self.frames) - 1, -1, -1):
                if self.frames[at].label == label:
                    del self.frames[at + 1:]
                    return
                if not self.frames[at].jumped:
                    break
        self.frames.append(Frame(label, jumped and not physical, self.depth))

    def leave(self, label):
        if self.frames[-1].label != label:
            raise ValueError(f"{label} returns, but {self.frames[-1].label} runs")
        while self.frames.pop().jumped:
            pass
        self.depth = self.frames[-1].depth if self.frames else 0

    def back(self, depth):
        while self.frames and self.frames[-1].depth > depth:
            self.frames.pop()
        self.depth = depth


def contexts(events, bases="resumer", physical=False):
    """The calling context of each activation, whole: a list of labels, the last one that of the function entered."""
    stacks = {0: Stack([])}
    stack = stacks[0]
    for what, value in events:
        if what in ("enter", "tail"):
            stack.enter(value, what == "tail", physical)
            yield stack.labels()
        elif what == "leave":
            stack.leave(value)
        elif what == "back":
            stack.back(value)
        elif what == "switch":
            if value not in stacks:
                stacks[value] = Stack(stack.labels() if bases == "resumer" else [])
            stack = stacks[value]
        else:
            raise ValueError(what)


def select(context, functions):
    """With the artificial root below those that are selected; None: the function entered is not."""
    if functions is None:
        return context
    return [ROOT] + [f for f in context if functions(f)] if functions(context[-1]) else None


def roll(context, how):
    rolled = []
    for label in context:
        if how == "cycles" and label in rolled:
            del rolled[rolled.index(label) + 1:]
        elif how != "simple" or not rolled or rolled[-1] != label:
            rolled.append(label)
    return rolled


def activations(events, functions=None, how="simple", **options):
    """The contexts of a thread's selected activations, rolled; with a selection the artificial root is activated first."""
    if functions is not None:
        yield [ROOT]
    for context in contexts(events, **options):
        chosen = select(context, functions)
        if chosen is not None:
            yield roll(chosen, how)


# Forests of contexts.


def cct(paths):
    """The tree of listing 3.1 (a forest where a thread has several first functions)."""
    tree = forest()
    for path in paths:
        node = tree
        for label in path:
            node = node.child(label)
        node.count += 1
        node.counted += 1
    return tree


def vertices(paths):
    """k = 0: a node for each function."""
    return cct([path[-1:] for path in paths])


def ksf_of_cct(tree, k):
    """Definition 7. Of the trees that are not the CCT's root's, the first k levels are counted in another tree, too."""
    slabs = forest()

    def slab(label, node, level):
        if level % k == 0:
            one = forest()
            one.children[label] = node
            join_into(slabs, one, 2 * k - 1, lambda v, depth: v.counted if level == 0 or depth >= k else 0)
        for name, child in node.children.items():
            slab(name, child, level + 1)

    for label, node in tree.children.items():
        slab(label, node, 0)
    return slabs


class Place:
    """What listing 3.2 keeps of an activation: its nodes in the two regions, its level, and the place it was entered from."""

    __slots__ = ("label", "level", "top", "bottom", "below")

    def __init__(self, label, level, top, bottom, below):
        self.label, self.level, self.top, self.bottom, self.below = label, level, top, bottom, below

    def count(self):
        self.top.count += 1
        self.top.counted += self.bottom is None
        if self.bottom:
            self.bottom.count += 1
            self.bottom.counted += 1


class Online:
    """Listing 3.2, with rolling: an activation that is rolled up takes the place that is there."""

    def __init__(self, k, how):
        self.k, self.how, self.slabs = k, how, forest()

    def enter(self, here, label):
        place = self.rolled(here, label) or self.new(here, label)
        place.count()
        return place

    def rolled(self, here, label):
        while here and self.how != "none":
            if here.label == label:
                return here
            here = here.below if self.how == "cycles" else None
        return None

    def new(self, here, label):
        level = here.level + 1 if here else 0
        if self.k == 0:
            return Place(label, level, self.slabs.child(label), None, here)
        top, bottom = (here.top, here.bottom) if here else (self.slabs, None)
        if level % self.k == 0 and here:
            top, bottom = self.slabs, top
        return Place(label, level, top.child(label), bottom.child(label) if bottom else None, here)


def ksf_online(events, k, functions=None, how="simple", physical=False, bases="resumer"):
    """Of a trace. A stack of places beside the activations: those of functions that are not selected are their callers'."""
    online = Online(k, how)
    root = online.enter(None, ROOT) if functions else None
    stack, stacks = Stack([]), {}
    places = [root]  # one more than activations: the first is that below them
    stacks[0] = stack, places
    for what, value in events:
        if what in ("enter", "tail"):
            stack.enter(value, what == "tail", physical)
            while len(places) > len(stack.frames):
                again = places.pop()
            if len(places) < len(stack.frames):
                raise AssertionError("an activation without a place")
            if functions and not functions(value):
                places.append(places[-1])
            elif what == "tail" and stack.frames[-1].depth != stack.depth:
                again.count()  # it was jumped to again, and is where it was
                places.append(again)
            else:
                places.append(online.enter(places[-1], value))
        elif what == "switch":
            if value not in stacks:
                stacks[value] = Stack([]), [places[-1] if bases == "resumer" else root]
            stack, places = stacks[value]
        else:
            (stack.leave if what == "leave" else stack.back)(value)
            del places[len(stack.frames) + 1:]
    return online.slabs


def inverse(tree, k):
    """Definition 6, weighted: a node's count goes to each node of its path, reversed."""
    inverted = forest()

    def walk(node, path):
        for label, child in node.children.items():
            here = path + [label]
            if child.counted:
                into = inverted
                for name in reversed(here[-k - 1:] if k != INFINITE else here):
                    into = into.child(name)
                    into.count += child.counted
                    into.counted = into.count
            walk(child, here)

    walk(tree, [])
    return inverted


def kccf_of_paths(paths, k):
    """Definition 5: the distinct paths of at most k + 1 functions that were activated, with their counts, reversed."""
    tree = forest()
    for path in paths:
        node = tree
        for label in reversed(path[-k - 1:] if k != INFINITE else path):
            node = node.child(label)
            node.count += 1
            node.counted += 1
    return tree


def cleared(slabs, k, first):
    """What IHPP does before inv_k (section 3.3.3): counts in the top regions of all trees but the first one's become zero. It is right as long
    as the first tree's root is not entered again at a level that is a multiple of k: `counted` is right always."""

    def copy(node, level):
        result = Node()
        result.count = result.counted = 0 if level < k else node.count
        result.children = {label: copy(child, level + 1) for label, child in node.children.items()}
        return result

    result = forest()
    result.children = {label: copy(node, k if label == first else 0) for label, node in slabs.children.items()}
    return result


# Basic blocks.


def executed(text):
    """`f( +0 g( +0 ) +12 )`: activations and the blocks they execute, as (name of the activation, function, block) in their order."""
    stack, blocks, n = [], [], 0
    for word in text.split():
        if word.endswith("("):
            n += 1
            stack.append((n, word[:-1]))
        elif word == ")":
            stack.pop()
        else:
            blocks.append((*stack[-1], stack[-1][1] + word))
    return blocks


def block_paths(blocks, how, below=()):
    """The context of each block: those before it. `below`: what all of them stand on."""
    path, paths = list(below), [list(below)] if below else []
    for block in blocks:
        path = roll(path + [block], how)
        paths.append(path)
    return paths


def intra(text, how):
    """By function, the contexts of its blocks: each activation begins anew."""
    activations_of, functions = {}, {}
    for activation, function, block in executed(text):
        activations_of.setdefault((activation, function), []).append(block)
    for (_, function), blocks in activations_of.items():
        functions.setdefault(function, []).extend(block_paths(blocks, how))
    return functions


def inter(text, how):
    """The contexts of the thread's blocks, with an artificial root."""
    return block_paths([block for _, _, block in executed(text)], how, (ROOT,))


def slabs_of_paths(paths, k):
    """k-SF and k-CCF."""
    tree = cct(paths)
    return vertices(paths) if k == 0 else tree if k == INFINITE else ksf_of_cct(tree, k), kccf_of_paths(paths, k)


# Written down.


def read(text):
    """`r:1(a:1(b:1) c:1)` as a forest. `main(f:2)`: any count of main's; plain() then has None."""
    words, result = re.findall(r"[()]|[^\s()]+", text), forest()
    stack, last = [result], None
    for word in words:
        if word == "(":
            stack.append(last)
        elif word == ")":
            stack.pop()
        else:
            label, _, count = word.rpartition(":")
            last = stack[-1].child(label or word)
            last.count = last.counted = int(count) if label else None
    if len(stack) != 1:
        raise ValueError(f"brackets do not match: {text}")
    return result


def show(tree):
    """What read() reads."""
    return " ".join(label + ("" if count is None else f":{count}") + (f"({show(below)})" if below else "")
                    for label, (count, below) in tree.items())


# The whole truth about a thread.


def plain(tree):
    """Comparable: {label: (count, children)}."""
    return {label: (node.count, plain(node)) for label, node in tree.children.items()}


def truth(events, k, functions=None, how="simple", **options):
    """k-SF and k-CCF of a thread, each found in two ways that must agree."""
    paths = list(activations(events, functions, how, **options))
    if k == 0:
        slabs = vertices(paths)
    else:
        tree = cct(paths)
        slabs = ksf_of_cct(tree, k) if k != INFINITE else tree
    other = ksf_online(events, k, functions, how, **options)
    if plain(slabs) != plain(other):
        raise AssertionError(f"{k}-SF: definition 7 and listing 3.2 differ: {plain(slabs)} {plain(other)}")
    inverted, direct = inverse(other, k), kccf_of_paths(paths, k)
    if not plain(inverted) == plain(direct) == plain(inverse(slabs, k)):
        raise AssertionError(f"{k}-CCF: definitions 5 and 6 differ: {plain(direct)} {plain(inverted)}")
    return slabs, inverted
