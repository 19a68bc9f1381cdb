#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# embed.sh OUT.c FILE...: a C source with each file strobe.NAME as the text st_completion_text_NAME.
set -eu
out=$1
shift
{
	echo '#include "cli/completion.h"'
	for file in "$@"; do
		echo "const char st_completion_text_${file##*.}[] ="
		sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' "$file"
		echo ';'
	done
} >"$out"
