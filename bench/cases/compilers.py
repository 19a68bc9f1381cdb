# SPDX-License-Identifier: GPL-3.0-or-later
"""Compilers and binary tools on real files: Strobe's own sources and C++ that pulls in large headers."""
from harness.case import case

CXX = r'''
cat > words.cpp <<'CC'
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
struct shape { virtual ~shape() = default; virtual double area() const = 0; };
template <int N> struct square : shape { double area() const override { return N * N + square<N - 1>().area(); } };
template <> struct square<0> : shape { double area() const override { return 0; } };
int main() {
	std::map<std::string, int> seen;
	std::istringstream in("one two three two one a1 b22 c333");
	std::string word;
	while (in >> word) seen[word]++;
	std::regex digits("([a-z])([0-9]+)");
	for (auto &[k, v] : seen) { std::smatch m; if (std::regex_match(k, m, digits)) std::cout << m[2] << ' '; std::cout << k << v << '\n'; }
	std::vector<std::unique_ptr<shape>> shapes; shapes.push_back(std::make_unique<square<90>>());
	try { throw std::runtime_error("thrown"); } catch (const std::exception &e) { std::cout << e.what() << shapes[0]->area() << '\n'; }
	int total = 0; std::thread t([&] { for (int i = 0; i < 1000; i++) total += i; }); t.join(); std::cout << total << '\n';
}
CC
'''

case("gcc-small", r'''
under-all gcc -O2 -g -Wall -c -o step.o "$IN/step.c"; under-all gcc -S -O0 -o - "$IN/step.c" | cksum''',
     packages="gcc libc6-dev", children=1, prepare="inputs c 12 > step.c", short=True)
case("gcc-large", 'under-all gcc -O2 -c -o step.o "$IN/step.c"', packages="gcc libc6-dev", children=1, prepare="inputs c 120 > step.c")
case("cc1", r'''under "$(gcc -print-prog-name=cc1)" -quiet -O2 -o step.s "$IN/step.c"; wc -l < step.s''', packages="gcc",
     prepare="inputs c 60 > step.c")
case("gcc-project", r'''
cd "$IN"
for f in src/profile/*.c src/symbol/*.c src/report/*.c; do
	under-all gcc -std=gnu17 -D_GNU_SOURCE -O2 -I src -I include -w -c -o "$WORK/$(basename "$f" .c).o" "$f"; echo "$f $?"
done''', children=1, prepare='cp -r "$ROOT/src" "$ROOT/include" .',
     packages="gcc libc6-dev libelf-dev libdw-dev libsqlite3-dev libjansson-dev libncurses-dev libiberty-dev liblzma-dev libzydis-dev")
case("g++", CXX + r'''
under-all g++ -std=c++17 -O1 -o words words.cpp -pthread; under ./words''', packages="g++", children=1)
case("clang", r'''
under-all clang -O2 -g -c -o step.o "$IN/step.c"; under-all clang -O1 -S -emit-llvm -o step.ll "$IN/step.c"''',
     packages="clang", prepare="inputs c 25 > step.c")
case("clang++", CXX + r'''
under-all clang++ -std=c++17 -O1 -o words words.cpp -pthread; under ./words''', packages="clang g++", children=1)
case("binutils", r'''
under as -o step.o "$IN/step.s"; under ld -r -o whole.o step.o; under objdump -d whole.o | cksum; under nm step.o | head -n 20
under readelf -aW "$(command -v gcc)" | cksum; under strip -o bare.o step.o; under size bare.o; under ar rcsD lib.a step.o
under strings -n 12 "$(command -v gcc)" | cksum; under objcopy -O binary -j .text step.o text.bin''',
     packages="gcc binutils", prepare='inputs c 30 > step.c; gcc -O1 -S -o step.s step.c', short=True)
case("make-parallel", r'''
for i in 1 2 3 4 5 6; do inputs c $((i + 2)) | sed "s/steps/steps$i/" > part$i.c; done
cat > Makefile <<'MAKE'
parts = part1.o part2.o part3.o part4.o part5.o part6.o
all.o: $(parts)
	ld -r -o $@ $^
%.o: %.c
	gcc -O2 -c -o $@ $<
MAKE
under-all make -s -j2; nm all.o | grep -c steps''', packages="gcc make", children=10)
