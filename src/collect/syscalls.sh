#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# syscalls.sh COMPILER...: the system calls of the kernel headers, [number] = "name", one a line.
set -e
echo '#include <asm/unistd_64.h>' | "$@" -E -dM -x c - |
	sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/\t[\2] = "\1",/p' | sort
