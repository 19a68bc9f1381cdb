#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# embed.sh IMAGE OUT.S [NAME]: an assembler source that holds the file as NAME, st_runtime_blob.
name=${3:-st_runtime_blob}
cat > "$2" <<TEXT
	.section .rodata
	.balign 64
	.globl $name, ${name}_end
$name:
	.incbin "$(realpath "$1")"
${name}_end:
	.byte 0
	.section .note.GNU-stack, "", @progbits
TEXT
