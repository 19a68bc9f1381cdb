# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: bash complete.bash SCRIPT BASH_COMPLETION-or-empty LINE...
# For each line "== LINE" and what is offered at its end, as bash would call the completion function of SCRIPT.
shopt -s progcomp extglob
script=$1 library=$2
shift 2
# shellcheck source=/dev/null
[ -z "$library" ] || . "$library"
# shellcheck source=/dev/null
. "$script"

compopt() { # there is no readline to tell
	:
}

split() { # LINE: COMP_WORDS at blanks, and at = and : as bash has them
	local rest=$1
	COMP_WORDS=()
	while [[ $rest ]]; do
		rest=${rest##+([[:blank:]])}
		if [[ $rest == [=:]* ]]; then
			COMP_WORDS+=("${rest%%[!=:]*}")
		else
			COMP_WORDS+=("${rest%%[=:[:blank:]]*}")
		fi
		rest=${rest#"${COMP_WORDS[-1]}"}
	done
}

for line in "$@"; do
	split "$line"
	COMP_LINE=$line COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#line} COMPREPLY=()
	_strobe strobe "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	echo "== $line"
	printf '%s\n' "${COMPREPLY[@]}"
done
