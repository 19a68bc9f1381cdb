/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: executable mappings. */
#ifndef STROBE_WIRE_RESULTS_MAPS_H
#define STROBE_WIRE_RESULTS_MAPS_H

#include <stdint.h>

enum {
	ST_MAX_MAPS = 65536, /* executable mappings ever seen */
	ST_MOST_PATH = 8192, /* bytes of a file's path, as the kernel lists it */
};

/* An executable mapping of the target, from the moment it was seen. A block names its mapping by
 * index. */
struct st_map {
	uint64_t start, end; /* program addresses */
	uint64_t pgoff;      /* file offset of start, bytes */
	uint64_t dev, ino;   /* 0 for anonymous memory */
	uint32_t path; /* offset into strings of a NUL-terminated path; 0: anonymous. "[vdso]" names
	                  the vdso */
	uint32_t flags; /* ST_MAP_* */
	/* With --unique: 1 + the bit of the section `coverage` that stands for the byte at
	   `start`, written by the controller; 0: none does. */
	uint64_t coverage;
	/* st_sum of what the file has there, as far as the controller knows the file by which it
	   speaks of leaders; 0: not known, or the memory has something else. */
	uint64_t sum;
};
enum { ST_MAP_WRITABLE = 1, ST_MAP_GONE = 2 };

struct st_map_results {
	uint32_t n;
};

#endif
