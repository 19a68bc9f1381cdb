# SPDX-License-Identifier: GPL-3.0-or-later
# Read by the interactive zsh of complete.zsh: every match that is added to a completion is printed.
PS1= PROMPT= RPROMPT=
fpath=($1 $fpath)
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
bindkey '^U' kill-whole-line
setopt no_beep
compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} = *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	(( $#hits )) && print -rl -- '' '<<<'${^hits}'>>>'
	(( $#hits ))
}
_print_done() {
	print -r -- '<<done>>'
	comppostfuncs=(_print_done) # it is used up
}
comppostfuncs=(_print_done)
print -r -- '<<ready>>'
