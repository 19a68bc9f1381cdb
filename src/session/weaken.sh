#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: weaken.sh OUTPUT HEADER...
# The built-in tools are compiled for the controller too, which reads their descriptions only: the functions of the tool
# API exist in the runtime and nowhere else. This writes a header that makes each of them weak, so that it need not be there.
set -eu
output=$1
shift
{
	echo "/* Made from $* by weaken.sh. */"
	# Declarations begin with their type; static inline functions have the name on a line of its own.
	sed -n '/^typedef/d; s/^[a-z][A-Za-z0-9_ ]*[ *]\(strobe_[a-z_]*\)(.*/#pragma weak \1/p' "$@"
} >"$output"
