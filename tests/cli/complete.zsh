# SPDX-License-Identifier: GPL-3.0-or-later
# usage: zsh -f complete.zsh FOLDER LINE...
# For each line "== LINE" and what is offered at its end by an interactive zsh that has FOLDER/_strobe.
zmodload zsh/zpty
folder=$1
shift
zpty shell zsh -f -i
zpty -w shell "source ${(q)folder}/interactive ${(q)folder}"
zpty -r -m shell answer '*<<ready>>*' || exit 1
for line; do
	print -r -- "== $line"
	zpty -w -n shell "$line"$'\t'
	zpty -r -m shell answer '*<<done>>*' || exit 1
	for hit in ${(f)answer}; do
		hit=${hit%$'\r'}
		[[ $hit = *'<<<'*'>>>' ]] && print -r -- "${${hit##*'<<<'}%'>>>'}"
	done
	zpty -w -n shell $'\x15'
done
