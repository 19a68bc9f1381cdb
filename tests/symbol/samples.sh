#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the sample programs in every shape the tests read: samples.sh SOURCES OUTPUT STAMP
set -euo pipefail
sources=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
stamp=$(realpath -m "$3")
rm -rf "$out"
mkdir -p "$out/debug" "$out/linked/.debug"
cd "$out"
plain=("$sources/plain.c" "$sources/other.c" "$sources/hand.S")
flags=(-O2 "-Wl,-z,lazy")

# Full debug information, as compilers differ in it.
gcc "${flags[@]}" -g -o full "${plain[@]}"
gcc "${flags[@]}" -g -no-pie -o nopie "${plain[@]}"
gcc "${flags[@]}" -g -static -o static "${plain[@]}"
gcc "${flags[@]}" -g -static-pie -o staticpie "${plain[@]}"
gcc "${flags[@]}" -gdwarf-4 -o dwarf4 "${plain[@]}"
gcc "${flags[@]}" -g -gz -o packed "${plain[@]}"
gcc "${flags[@]}" -g -O0 -fcf-protection=full -Wl,-z,ibtplt -o ibt "${plain[@]}"
gcc "${flags[@]}" -g -Wl,--build-id=none -o noid "${plain[@]}"
gcc "${flags[@]}" -g -rdynamic -o exports "${plain[@]}"
gcc "${flags[@]}" -gsplit-dwarf -g -o split "${plain[@]}"
(cd "$sources" && gcc "${flags[@]}" -g -o "$out/relative" plain.c other.c hand.S)
gcc "${flags[@]}" -g -shared -fPIC -o libplain.so "${plain[@]}"
gcc -O2 -g -o inlined "$sources/inlined.c"
gcc -O2 -g -o headed "$sources/headed.c"
gcc -O2 -g -gsplit-dwarf -o inlined_split "$sources/inlined.c"
gcc -O2 -g -gdwarf-4 -gsplit-dwarf -o inlined_split4 "$sources/inlined.c"
# Moved away from where they were compiled, with their .dwo files and without.
mkdir -p compiled moved alone
(cd compiled && gcc -O2 -g -gsplit-dwarf -o inlined "$sources/inlined.c" &&
	objcopy --strip-all --keep-section='.debug_*' inlined names)
mv compiled/* moved
cp moved/inlined alone
g++ -O2 -g -o inlined_cxx "$sources/shapes.cpp"
g++ -O1 -g -o shapes "$sources/shapes.cpp"

# Cold parts of functions, of local ones of the same name too.
cold=("$sources/cold.c" "$sources/cold_one.c" "$sources/cold_two.c")
gcc -O2 -g -o cold "${cold[@]}"
gcc -O2 -g -flto -o cold_lto "${cold[@]}"
objcopy --redefine-sym global_part.cold=global_part.cold.llvm.123 cold cold_llvm
objcopy --strip-all --keep-section='.debug_*' cold cold_dwarf
objcopy --strip-symbol=cold.c --strip-symbol=cold_one.c --strip-symbol=cold_two.c cold cold_nofiles
objcopy --strip-debug --strip-symbol=cold.c --strip-symbol=cold_one.c --strip-symbol=cold_two.c cold cold_names

# The same without symbols, where only frames and jumps tell.
g++ -O2 -freorder-blocks-and-partition -o frames "$sources/frames.cpp"
strip -s -o frames_bare frames

gcc -O2 -o jit "$sources/jit.c"

gcc -nostdlib -shared -Wl,-Bsymbolic -o libleaders.so "$sources/leaders.S"

# Stripped, with the debug information elsewhere or nowhere.
strip -s -o stripped full
strip -s -o libstripped.so libplain.so
objcopy --strip-all --keep-section='.debug_*' full dwarfonly
objcopy --strip-all --keep-section='.debug_*' shapes shapes_dwarfonly
id=$(readelf -n full | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/$(echo "$id" | cut -c1-2)"
objcopy --only-keep-debug full "debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
cp stripped byid
objcopy --only-keep-debug noid linked/link.debug
strip -s -o linked/beside noid
objcopy --add-gnu-debuglink=linked/link.debug linked/beside
mkdir -p linked/sub linked/wrong "debug$out/linked/global"
mkdir linked/global linked/sub/.debug
cp linked/beside linked/sub/hidden
cp linked/link.debug linked/sub/.debug/
cp linked/beside linked/global/far
cp linked/link.debug "debug$out/linked/global/"
# The same size and layout, another checksum.
cp linked/beside linked/wrong/damaged
cp linked/link.debug linked/wrong/
printf X | dd of=linked/wrong/link.debug bs=1 seek=9 conv=notrunc 2>/dev/null

cp nopie wrongid.full
strip -s -o linked/wrongid wrongid.full
id=$(readelf -n linked/wrongid | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/$(echo "$id" | cut -c1-2)"
objcopy --only-keep-debug full "debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"

# What must be refused.
: >empty
gcc -c -o object.o "$sources/other.c"
mkfifo fifo
overwrite() { # FILE OFFSET BYTES, escaped as for printf
	printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
cp full machine
overwrite machine 18 '\0267'
cp full class32
overwrite class32 4 '\0001'
head -c 5000 full >truncated
head -c 64 full >header_only
cp stripped nosections
overwrite nosections 40 '\0\0\0\0\0\0\0\0'
overwrite nosections 58 '\0\0\0\0\0\0'

# Mini-debuginfo: the functions that .dynsym lacks, packed.
nm -D full --format=posix --defined-only | awk '{print $1}' | sort >dynamic
nm full --format=posix --defined-only | awk '$2 ~ /[tTDdwWi]/ {print $1}' | sort >all
comm -13 dynamic all >keep
objcopy -S --remove-section .comment --keep-symbols=keep full mini.elf
objcopy --strip-debug mini.elf
xz mini.elf
cp stripped mini
objcopy --add-section .gnu_debugdata=mini.elf.xz mini

if command -v clang >/dev/null; then
	clang -O2 -g -o clang "${plain[@]}"
	clang -O2 -g -o inlined_clang "$sources/inlined.c"
fi
if rustc --version >/dev/null 2>&1; then # the rustc of rustup may have no toolchain for this HOME
	# The old mangling has become unstable, but programs that have it will be around for long.
	RUSTC_BOOTSTRAP=1 rustc -O -g -Z unstable-options -C symbol-mangling-version=legacy \
		-o rust_legacy "$sources/rusty.rs"
	rustc -O -g -C symbol-mangling-version=v0 -o rust_v0 "$sources/rusty.rs"
fi
if command -v dwz >/dev/null; then
	cp full dwz_one
	cp shapes dwz_two
	mkdir -p dwz
	dwz -m dwz/common -r dwz_one dwz_two
	objcopy --strip-all --keep-section='.debug_*' --keep-section=.gnu_debugaltlink dwz_one dwz_stripped
fi
touch "$stamp"
