# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for strobe; made by: strobe help --completion bash

# @tables@

# The command line as the program gets it: bash splits words at = and :, too. Sets args, and at: where each begins.
_strobe_join() {
	local line=$COMP_LINE word i
	args=() at=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i)) && [[ $line != [[:blank:]]* ]]; then
			args[-1]+=$word
		else
			line=${line#"${line%%[![:blank:]]*}"}
			args+=("$word") at+=("$i")
		fi
		line=${line#"$word"}
	done
}

# Offers what begins with $1 among the words that follow, each with $2 before it.
_strobe_offer() {
	local typed=$1 before=$2 word
	shift 2
	for word in "$@"; do
		[[ $word != "$typed"* ]] || COMPREPLY+=("$before$word")
	done
}

_strobe_offer_files() { # TYPED BEFORE
	local files
	compopt -o filenames 2>/dev/null
	mapfile -t files < <(compgen -f -- "$1")
	COMPREPLY+=("${files[@]/#/$2}")
}

_strobe_offer_pids() { # TYPED BEFORE
	local process
	for process in /proc/[0-9]*; do
		[[ ! -O $process && $EUID -ne 0 ]] || _strobe_offer "$1" "$2" "${process#/proc/}"
	done
}

# Tools, the options behind the name of one, or its file, which ends in .tool or has a slash.
_strobe_offer_tools() { # TYPED BEFORE
	local typed=${1##*[:,]} files
	if [[ $1 == *:* ]]; then
		_strobe_tool_options "${1%%:*}" || return
		_strobe_offer "$typed" "$2${1%"$typed"}" "${words[@]}"
		compopt -o nospace 2>/dev/null
	else
		mapfile -t files < <(compgen -G '*.tool')
		_strobe_offer "$1" "$2" "${words[@]}" "${files[@]}"
		[[ $1 != */* ]] || _strobe_offer_files "$1" "$2"
	fi
}

# Offers values that begin with $1 by kind and words, each with $2 before it.
_strobe_offer_values() {
	local typed=$1 before=$2
	case $kind in
	words) _strobe_offer "$typed" "$before" "${words[@]}" ;;
	list)
		[[ $typed != *,* ]] || before+=${typed%,*},
		_strobe_offer "${typed##*,}" "$before" "${words[@]}"
		;;
	tool) _strobe_offer_tools "$typed" "$before" ;;
	file) _strobe_offer_files "$typed" "$before" ;;
	pid) _strobe_offer_pids "$typed" "$before" ;;
	esac
}

# From word $1 on it is another program's command line.
_strobe_offer_program() {
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif (($1 == COMP_CWORD)) && [[ $cur != */* ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_strobe_offer_files "$cur" ""
	fi
}

# The options in the word $1: sets value when the next word is the value of the last of them.
_strobe_skip() {
	local letters=${1#-} letter
	value=
	case $1 in
	--*=*) ;;
	--*) ! _strobe_value "$command" "$1" || value=$1 ;;
	*)
		while [[ $letters ]]; do
			letter=-${letters:0:1} letters=${letters:1}
			_strobe_value "$command" "$letter" || continue
			[[ $letters ]] || value=$letter
			return
		done
		;;
	esac
}

_strobe() {
	local kind cur command value='' ended='' last i n
	local -a args at words
	COMPREPLY=()
	_strobe_join
	n=$((${#args[@]} - 1)) cur=${args[-1]} command=${args[1]}
	if ((n == 1)); then
		_strobe_commands && _strobe_offer "$cur" "" "${words[@]}"
		[[ $cur != -* ]] || _strobe_offer "$cur" "" --help --version
		return
	fi
	for ((i = 2; i < n; i++)); do
		if [[ $value ]]; then
			value=
		elif [[ $ended || ${args[i]} != -?* ]]; then
			! _strobe_value "$command" "" || [[ $kind != program ]] || break
		elif [[ ${args[i]} == -- ]]; then
			ended=1
		else
			_strobe_skip "${args[i]}"
		fi
	done
	if [[ $value ]]; then
		_strobe_value "$command" "$value" && _strobe_offer_values "$cur" ""
	elif [[ ! $ended && $cur == --*=* ]]; then
		_strobe_value "$command" "${cur%%=*}" && _strobe_offer_values "${cur#*=}" "${cur%%=*}="
	elif ((i == n)) && [[ ! $ended && $cur == -* ]]; then
		_strobe_options "$command" && _strobe_offer "$cur" "" "${words[@]}"
	elif _strobe_value "$command" ""; then
		if [[ $kind == program ]]; then
			_strobe_offer_program "${at[i]}"
			return
		fi
		_strobe_offer_values "$cur" ""
	fi
	# readline replaces only what is behind the last = or :.
	last=${COMP_WORDS[COMP_CWORD]}
	[[ $last != [=:] ]] || last=
	COMPREPLY=("${COMPREPLY[@]#"${cur%"$last"}"}")
}

complete -F _strobe strobe
