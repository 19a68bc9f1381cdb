/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that a probed image's stubs lie in: within 2 GiB of the image, written by the
 * controller only. The process can read and execute it.
 */
#ifndef STROBE_WIRE_PROBE_ARENA_H
#define STROBE_WIRE_PROBE_ARENA_H

enum {
	ST_ARENA_ENTRY = 0,  /* 8 bytes: address of the handler of entries */
	ST_ARENA_RETURN = 8, /* 8 bytes: address of the handler of patched returns */
	ST_ARENA_ALLOC = 16, /* 8 bytes: address of the handler of allocations */
	ST_ARENA_READ = 24,  /* 8 bytes: address of the handler of entries that reads arguments */
	ST_ARENA_STUBS = 64, /* the first stub; each begins at a multiple of ST_ARENA_ALIGN */
	ST_ARENA_ALIGN = 16,
};

#endif
