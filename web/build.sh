#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# build.sh OUT.S DEPFILE: bundles the page of `strobe report` and writes an assembler source that holds its two halves, as
# st_page_head and st_page_tail; the data comes between them. Where npm or what it would fetch is missing, the halves are
# empty and st_page_problem says why: everything else of Strobe must not depend on the network.
set -u
source=$(dirname "$(realpath "$0")")
out=$1 depfile=$2
work=$(realpath "$(dirname "$out")")/page
mkdir -p "$work"

# node has authorities of its own; those that this machine trusts as well may be needed to reach the registry.
authorities=/etc/ssl/certs/ca-certificates.crt
if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -r $authorities ]; then
	export NODE_EXTRA_CA_CERTS=$authorities
fi

# Packages are fetched again only when the lock changes, and lie in the build folder. An npm that was interrupted may say that
# all went well, and leave a folder without them.
fetch() {
	if cmp -s "$source/package-lock.json" "$work/fetched" && [ -d "$work/node_modules/esbuild" ]; then
		return 0
	fi
	rm -f "$work/fetched"
	cp "$source/package.json" "$source/package-lock.json" "$work/" &&
		(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=2 --fetch-retry-mintimeout=1000 \
			--fetch-retry-maxtimeout=4000 --fetch-timeout=20000 >fetch.log 2>&1 </dev/null) &&
		[ -d "$work/node_modules/esbuild" ] &&
		cp "$source/package-lock.json" "$work/fetched"
}

# NODE_PATH is not read for ES modules: the script finds the packages because it is started where they are.
bundle() {
	cp "$source/bundle.mjs" "$work/" && node "$work/bundle.mjs" "$source" "$work" >"$work/bundle.log" 2>&1 </dev/null
}

problem=
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	problem="npm was not found"
elif ! fetch; then
	problem="npm could not fetch the packages of web/package-lock.json"
elif ! bundle; then
	cat "$work/bundle.log" >&2
	exit 1
fi

if [ -n "$problem" ]; then
	: >"$work/page.head"
	: >"$work/page.tail"
	echo "web: $problem; strobe report will say so (see $work/fetch.log)" >&2
fi

cat >"$out" <<TEXT
	.section .rodata
	.globl st_page_head, st_page_head_size, st_page_tail, st_page_tail_size, st_page_problem
	.balign 8
st_page_head_size:
	.quad 1f - st_page_head
st_page_tail_size:
	.quad 2f - st_page_tail
st_page_head:
	.incbin "$work/page.head"
1:
st_page_tail:
	.incbin "$work/page.tail"
2:
st_page_problem:
	.asciz "$problem"
	.section .note.GNU-stack, "", @progbits
TEXT

# A file that is not there makes ninja run this again: the next build tries again what failed.
{
	printf '%s:' "$out"
	[ -z "$problem" ] || printf ' %s' "$work/missing"
	find "$source" -name node_modules -prune -o -type f ! -path "$source/test/*" -print | while IFS= read -r file; do
		printf ' %s' "$file"
	done
	echo
} >"$depfile"
