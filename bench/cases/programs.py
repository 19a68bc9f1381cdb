# SPDX-License-Identifier: GPL-3.0-or-later
"""Other real programs: a solver, version control, Rust, Go, and the tools that look at processes."""
from harness.case import case

case("z3", 'under z3 "$IN/holes.smt2"; under z3 -in <<< "(declare-const x Int)(assert (= (* x x) 1369))(assert (> x 0))(check-sat)(get-value (x))"',
     packages="z3", prepare="inputs holes 8 > holes.smt2", short=True)

GIT = r'''
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example GIT_CONFIG_NOSYSTEM=1
tick=1700000000; stamp() { tick=$((tick + 60)); export GIT_AUTHOR_DATE="$tick +0000" GIT_COMMITTER_DATE="$tick +0000"; }
git() { command %s git -c init.defaultBranch=main -c gc.auto=0 -c pack.threads=1 -c advice.detachedHead=false "$@"; }
git init -q repo; cd repo
split -n l/12 -d "$IN/text" file.; git add .; stamp; git commit -q -m 'all files'
for i in 1 2 3 4 5; do sed -i "$((i * 7))s/.*/changed $i/" file.0$i; stamp; git commit -q -a -m "change $i"; done
git checkout -q -b side HEAD~3; sed -i '200s/.*/side/' file.07; stamp; git commit -q -a -m side; git checkout -q main; stamp; git merge -q -m merged side
git log --graph --oneline --stat | cksum; git blame -s file.03 | cut -c 1-8 | sort | uniq -c; git diff HEAD~4 --word-diff | cksum
git grep -c changed; git bisect start -q HEAD HEAD~5 >/dev/null 2>&1; git bisect reset -q 2>/dev/null; stamp; git rebase -q HEAD~2 2>/dev/null; git log --format=%%H | head -n 4
git gc -q; git fsck --strict; git count-objects -v | grep -E 'in-pack|packs'; cd ..; git clone -q --no-hardlinks repo copy 2>&1; git -C copy rev-parse HEAD
git -C copy archive HEAD | cksum; rm -rf repo copy
'''
case("git", GIT % "under", packages="git", prepare="inputs text 1 > text", short=True)
case("git-follow", GIT % "under-all", packages="git", prepare="inputs text 1 > text")

case("ripgrep", r'''
under rg -j 2 --sort path -c 'a[nr]e?' "$IN/tree" | sed "s,$IN,," ; under rg -j 2 -o -I --no-filename '<[a-z]+@' "$IN/tree" | sort | uniq -c | sort -rn | head -n 5
under rg -F -w pabivu "$IN/tree/text.00" | cksum; under rg --files "$IN/tree" | wc -l; under rg -q nothing-like-this "$IN/tree"; echo $?''',
     packages="ripgrep", prepare="inputs text 3 > text; mkdir tree; split -n l/30 -d text tree/text.", short=True)

GO = r'''
cat > main.go <<'GO'
package main
import ("fmt"; "os"; "regexp"; "runtime"; "sort"; "strings"; "sync"; "time")
type node struct{ l, r *node }
func grow(d int) *node { if d == 0 { return &node{} }; return &node{grow(d - 1), grow(d - 1)} }
func (n *node) count() int { if n.l == nil { return 1 }; return 1 + n.l.count() + n.r.count() }
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func main() {
	var wg sync.WaitGroup; var mu sync.Mutex; total := 0; c := make(chan int, 4)
	for i := 0; i < 200; i++ { wg.Add(1); go func(k int) { defer wg.Done(); s := 0; for j := 0; j < 20000; j++ { s = (s*31 + j*k) % 1000003 }; mu.Lock(); total += s; mu.Unlock() }(i) }
	wg.Wait(); fmt.Println(total, grow(16).count(), fib(27))
	go func() { for i := 0; i < 20000; i++ { c <- i }; close(c) }(); s := 0; for v := range c { s += v }; fmt.Println(s)
	m := map[string]int{}; for _, w := range regexp.MustCompile("[a-z]+").FindAllString(strings.Repeat("some words and more words ", 3000), -1) { m[w]++ }
	keys := []string{}; for k := range m { keys = append(keys, k) }; sort.Strings(keys); for _, k := range keys { fmt.Println(k, m[k]) }
	func() { defer func() { fmt.Println("recovered", recover()) }(); var p *node; _ = p.l }()
	stop := time.After(50 * time.Millisecond); for spin := true; spin; { select { case <-stop: spin = false; default: } }; runtime.GC(); os.Exit(3)
}
GO
'''
case("go-program", GO + 'export GOCACHE=$IN/cache; cp "$IN/program" .; under ./program', packages="golang-go",
     prepare=GO + 'export GOCACHE=$PWD/cache GO111MODULE=off; go build -o program main.go', timeout=240)
case("go-build", GO + r'''
export GOCACHE=$TMPDIR/cache GO111MODULE=off GOFLAGS=-trimpath; cp -r "$IN/cache" "$GOCACHE"
under-all go vet main.go; under-all go build -o program main.go; under gofmt -d main.go | cksum; ./program | tail -n 1''', packages="golang-go",
     prepare=GO + 'export GOCACHE=$PWD/cache GO111MODULE=off GOFLAGS=-trimpath; go build -o program main.go && go vet main.go', timeout=240)
case("fzf", 'under fzf -f "pabi vu" < "$IN/text" | head -n 5; under fzf --version | wc -l', packages="fzf", prepare="inputs text 1 > text")

case("gdb-inside", r'''
cat > fact.c <<'C'
int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
int main(void) { return fact(5); }
C
gcc -g -O0 -o fact fact.c
under gdb -q -nx -batch -ex 'break fact if n == 2' -ex run -ex bt -ex 'print n' -ex finish -ex kill ./fact 2>&1 | grep -E '^#|^\$|Value'
under gdb -q -nx -batch -ex 'disassemble main' ./fact | cut -c 1-60 | cksum; rm fact''', packages="gdb gcc",
     clean=((r"0x[0-9a-f]+", "0x"),))
case("strace-inside", 'under strace -f -o trace sh -c "echo traced; true"; echo $?; grep -c execve trace; rm trace', packages="strace")
case("man", r'under-all man -P cat ls 2>/dev/null | cksum; under-all groff -man -Tutf8 <(zcat /usr/share/man/man1/gzip.1.gz 2>/dev/null || printf ".TH A 1\n.SH B\nc\n") | cksum',
     native="man runs its helpers in a seccomp sandbox that lets the engine make no memory files",
     packages="man-db groff-base")
