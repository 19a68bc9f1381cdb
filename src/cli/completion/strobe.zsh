#compdef strobe
# SPDX-License-Identifier: GPL-3.0-or-later
# zsh completion for strobe; made by: strobe help --completion zsh

# @tables@

_strobe_program() {
	_alternative 'commands:program:_path_commands' 'files:program:_files -g "*(-*)"'
}

# A tool, the options behind the name of one, or its file, which ends in .tool or has a slash.
_strobe_tool() {
	local tool=${PREFIX%%:*}
	local -a words_of files
	if [[ $PREFIX = *:* ]]; then
		_strobe_tool_options "$tool" || return
		compset -P '*[:,]'
		_describe -t values option words_of -S ''
	elif [[ $PREFIX = */* ]]; then
		_files "$@"
	else
		files=(*.tool(N))
		_strobe_TOOL "$@"
		compadd "$@" -a files
	fi
}

# The user's own processes, all of them for root. (_pids knows those of this terminal only.)
_strobe_pids() {
	local -a processes found
	local process name
	if (( EUID )); then
		processes=(/proc/<->(NU))
	else
		processes=(/proc/<->(N))
	fi
	for process in $processes; do
		{ name=$(<$process/comm) } 2>/dev/null && found+=("${process:t}:$name")
	done
	_describe -t processes process found "$@"
}

# words is the program and its arguments; _arguments leaves a -- that is the first word of all.
_strobe_arguments() {
	if [[ $words[1] = -- ]]; then
		shift words
		(( CURRENT-- ))
	fi
	_normal -p strobe
}

_strobe() {
	local curcontext=$curcontext command
	local -a specs
	local -A opt_args
	if (( CURRENT == 2 )); then
		_arguments '(- 1)'{-h,--help}'[explain strobe]' '(- 1)'{-V,--version}'[print the version]' \
			'1:command:_strobe_COMMAND'
		return
	fi
	command=$words[2]
	_strobe_specs "$command" || return
	shift words
	(( CURRENT-- ))
	curcontext="${curcontext%:*:*}:strobe-$command:"
	_arguments -s -S : "${specs[@]}"
}

# The first time it is run from this file by autoload; else it was evaluated, for example in .zshrc.
if [[ ${funcstack[1]} = _strobe ]]; then
	_strobe "$@"
else
	compdef _strobe strobe
fi
