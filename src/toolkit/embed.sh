#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# embed.sh IMAGE OUT.S: an assembler source that holds the file as st_runtime_blob.
cat > "$2" <<TEXT
	.section .rodata
	.balign 64
	.globl st_runtime_blob, st_runtime_blob_end
st_runtime_blob:
	.incbin "$(realpath "$1")"
st_runtime_blob_end:
	.byte 0
	.section .note.GNU-stack, "", @progbits
TEXT
