#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: disk.sh COMMAND... | strobe import -o disk.db -
# A collector of one's own: what a command reads from and writes to disks, five times, as a table that strobe import takes.
# The kernel counts it for each process in /proc/PID/io, and adds what children did when they have been waited for.
printf 'image\trepetition\tread [B]\twritten [B]\n'
for repetition in 1 2 3 4 5; do
	io=$(sh -c '
		"$@" >/dev/null 2>&1
		cat /proc/$$/io
	' sh "$@")
	read_bytes=$(echo "$io" | sed -n 's/^read_bytes: //p')
	write_bytes=$(echo "$io" | sed -n 's/^write_bytes: //p')
	printf '%s\t%s\t%s\t%s\n' "$1" "$repetition" "$read_bytes" "$write_bytes"
done
