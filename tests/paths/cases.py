# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs whose forests are known: programs/truths.txt says what is true of them, below each name:

    args: WORDS                   how it is run, in the lines that follow
    paths: OPTIONS => FORESTS     with these options; forests of the threads with | between them, alternatives with `or`. Without -k the
                                  forest is the whole calling context tree, from which the k-SF and k-CCF of every k follow
    parents: f <= g:3 h:1         in a run of all functions f is called so often by g and by h, and by nobody else
    absent: NAME                  no function of a run of all functions is called so
    calm: OPTIONS                 blocks have the same forests when it is run with the argument `calm`
    most: OPTIONS => f:3 g:1      with these options, of a budget, f and g are called at most so often, and the program ends well
    blocks: OPTIONS => TRACE      the blocks that were executed, in the functions that were called: `f( +0 g( +0 ) +12 )`
    pieces: OPTIONS => TRACE      the same, but where blocks are cut the k-SF is the trees' of the whole ones: only the k-CCF is what it is of the trace
    child: OPTIONS => FOREST      of the youngest child by fork, with --follow; names without a count are what it was born in
"""

import shlex

import forest
from forest import INFINITE
from reading import Failure, compare, differences, paths, plain, read_json, without_zeros

WORDS = ("args", "paths", "parents", "absent", "calm", "most", "child", "blocks", "pieces")


def statements(file):
    """{program: [[word, rest], ...]}; a line that is deeper goes on with the one before."""
    found, name = {}, None
    for line in file.read_text().splitlines()[1:]:
        word, _, rest = line.strip().partition(": ")
        if line.startswith("\t\t"):
            found[name][-1][1] += " " + line.strip()
        elif line.startswith("\t") and word in WORDS:
            found[name].append([word, rest])
        elif line.strip():
            if line[0] == "\t" or line in found:
                raise ValueError(f"{file}: {line}")
            name = line
            found[name] = []
    return found


class Case:
    def __init__(self, options, said, program):
        self.options, self.said, self.program, self.arguments = options, said, program, []

    def run(self, words, k, mode="func"):
        text, again = paths(self.options.strobe, ["--mode", mode, *words, "-k", k], [self.program, *self.arguments])
        return read_json(text, again, mode, k), again

    def check(self):
        """So many runs were compared."""
        done = 0
        for word, rest in self.said:
            if word == "args":
                self.arguments = rest.split()
            elif word == "paths":
                done += self.check_paths(rest, done == 0 or self.options.long)
            else:
                getattr(self, "check_" + word)(rest)
                done += 1
        return done

    def check_paths(self, rest, more):
        left, _, right = rest.partition("=>")
        words = shlex.split(left)
        wants = [[forest.read(one) for one in text.split("|")] for text in right.split(" or ")]
        if "-k" in words:
            at = words.index("-k")
            self.compare(words[:at] + words[at + 2:], words[at + 1], wants, False)
            return 1
        ks = ["inf"] + ["2"] * more + [str(k) for k in (0, 1, *range(3, 11))] * self.options.long
        for k in ks:
            self.compare(words, k, [[self.slabs(one, k) for one in want] for want in wants], True)
        return len(ks)

    @staticmethod
    def slabs(tree, k):
        """A CCT's k-SF. With its counts as those of the CCT: `counted` is right for inv_k."""
        if k == "inf":
            return tree
        if k == "0":
            return forest.inverse(tree, 0)
        return forest.ksf_of_cct(tree, int(k))

    def compare(self, words, k, wants, inverted):
        document, again = self.run(words + ["--kccf"], k)
        threads = document["threads"]
        if len(threads) not in {len(want) for want in wants}:
            raise Failure(f"{len(threads)} threads, should be {len(wants[0])}\n    {again}")
        if [thread["thread"] for thread in threads] != list(range(1, len(threads) + 1)):
            raise Failure(f"threads are numbered {[thread['thread'] for thread in threads]}\n    {again}")
        # An alternative is one for all of the run.
        fits = [want for want in wants if not any(differences(plain(thread["ksf"], again), forest.plain(tree))
                                                  for thread, tree in zip(threads, want))] or wants
        for i, thread in enumerate(threads):
            compare(f"{k}-SF of thread {i + 1}", plain(thread["ksf"], again), [forest.plain(want[i]) for want in fits], again)
            if inverted:
                trees = [forest.inverse(want[i], INFINITE if k == "inf" else int(k)) for want in fits]
                compare(f"{k}-CCF of thread {i + 1}", plain(thread["kccf"], again), [forest.plain(tree) for tree in trees], again)

    def edges(self):
        """{function: {caller: count}} over all functions and threads."""
        document, again = self.run(["--join-threads", "--kccf"], "1")
        tree = plain(document["threads"][0]["kccf"], again)
        return {name: {caller: count for caller, (count, _) in callers.items()} for name, (_, callers) in tree.items()}, again

    def check_parents(self, rest):
        name, _, right = rest.partition(" <= ")
        want = {word.rpartition(":")[0]: int(word.rpartition(":")[2]) for word in right.split()}
        edges, again = self.edges()
        if edges.get(name) != want:
            raise Failure(f"callers of {name}: {edges.get(name)}, should be {want}\n    {again}")

    def check_absent(self, rest):
        edges, again = self.edges()
        if rest in edges:
            raise Failure(f"there is a function {rest}, called by {edges[rest]}\n    {again}")

    def check_calm(self, rest):
        for mode in ("intra", "inter"):
            found = []
            for self.arguments in ["calm"], []:
                document, again = self.run([*shlex.split(rest), "--roll-loops"], "inf", mode)
                parts = [part for thread in document["threads"] for part in thread.get("functions", [thread])]
                found.append([(part.get("name"), plain(part["ksf"], again)) for part in parts])
            if [name for name, _ in found[0]] != [name for name, _ in found[1]]:
                raise Failure(f"other functions than in a calm run\n    {again}")
            for (name, want), (_, got) in zip(*found):
                compare(f"{mode}, {name}", got, [want], again)

    def check_most(self, rest):
        left, _, right = rest.partition("=>")
        most = {word.rpartition(":")[0]: int(word.rpartition(":")[2]) for word in right.split()}
        document, again = self.run(shlex.split(left), "0")
        for name, (count, _) in plain(document["threads"][0]["ksf"], again).items():
            if count > most.get(name, 0):
                raise Failure(f"{name}: {count}, should be at most {most.get(name, 0)}\n    {again}")

    def check_child(self, rest):
        left, _, right = rest.partition("=>")
        document, again = self.run(shlex.split(left) + ["--follow"], "inf")
        pids = {process["pid"] for process in document["processes"]}
        parents = {process["ppid"] for process in document["processes"]}
        children = [process for process in document["processes"] if process["ppid"] in pids and process["pid"] not in parents]
        if len(children) != 1:
            raise Failure(f"{len(children)} youngest children, should be one\n    {again}")
        threads = [thread for thread in document["threads"] if thread["pid"] == children[0]["pid"]]
        got = plain(threads[0]["ksf"], again) if threads else {}
        if list(got) != [forest.ROOT]:
            raise Failure(f"the child's forest has the roots {list(got)}\n    {again}")
        compare("the child's forest", without_zeros(got[forest.ROOT][1]), [forest.plain(forest.read(right))], again)

    def check_pieces(self, rest):
        self.check_blocks(rest, True)

    def check_blocks(self, rest, cut=False):
        left, _, text = rest.partition("=>")
        for mode in ("intra", "inter"):
            for k, rolled in (("0", []), ("1", []), ("2", []), ("5", []), ("100", []), ("inf", ["--roll-loops"])):
                document, again = self.run(shlex.split(left) + ["--kccf", *rolled], k, mode)
                how, number = "cycles" if rolled else "none", INFINITE if k == "inf" else int(k)
                thread = document["threads"][0]
                keys = ("kccf",) if cut and 0 < number < INFINITE else ("ksf", "kccf")
                if mode == "inter":
                    self.compare_blocks(mode, thread, forest.slabs_of_paths(forest.inter(text, how), number), keys, again)
                    continue
                wants = {name: forest.slabs_of_paths(found, number) for name, found in forest.intra(text, how).items()}
                got = {function["name"]: function for function in thread["functions"]}
                if set(got) != set(wants):
                    raise Failure(f"functions {sorted(got)}, should be {sorted(wants)}\n    {again}")
                for name, want in wants.items():
                    self.compare_blocks(f"intra, {name}", got[name], want, keys, again)

    @staticmethod
    def compare_blocks(what, got, want, keys, again):
        for key in keys:
            tree = dict(zip(("ksf", "kccf"), want))[key]
            compare(f"{what}, {key}", plain(got[key], again), [forest.plain(tree)], again)
