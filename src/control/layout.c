/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The controller's side of a results file. The program can write over all of it, also while it is
 * read: so the page that says where things are is a copy of ours, and the file cannot get shorter.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "control/internal.h"

bool
st_results_freeze(struct st_results_header *h, int fd)
{
	unsigned char page[ST_LAYOUT_BYTES];
	memcpy(page, h->layout_page, sizeof page);
	if (mmap(h, sizeof page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) != h)
		return false;
	memcpy(h->layout_page, page, sizeof page); /* from here on the page is not the file's */
	return true;
}

/* Is it a memory file as the runtime makes one? */
static bool
is_results_file(int fd, uint64_t size)
{
	struct stat st;
	struct statfs fs;
	int seals = fcntl(fd, F_GET_SEALS);
	return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 &&
	       S_ISREG(st.st_mode) && (uint64_t)st.st_size == size && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == TMPFS_MAGIC;
}

struct st_results_header *
st_results_map(int fd, const struct st_results_header *like)
{
	size_t size = like->layout.file_size;
	if (!is_results_file(fd, size)) {
		errno = EPROTO;
		return NULL;
	}
	struct st_results_header *h =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (h == MAP_FAILED)
		return NULL;
	if (!st_results_freeze(h, fd)) {
		munmap(h, size);
		return NULL;
	}
	memcpy(h->layout_page, like->layout_page, sizeof h->layout_page);
	h->layout.slots_here = ST_MAX_SLOTS;
	return h;
}

struct st_results_header *
st_results_shrink(struct st_results_header *h, size_t *size)
{
	/* Read once: the program can write there. */
	const uint32_t n_slots = __atomic_load_n(&h->threads.n_slots, __ATOMIC_RELAXED);
	const uint32_t n = n_slots < h->layout.slots_here ? n_slots : h->layout.slots_here;
	size_t used = h->layout.off_counters + n * h->layout.counters_stride,
	       rest = used - ST_LAYOUT_BYTES;
	if (used >= *size || munmap((char *)h + used, *size - used) != 0)
		return h;
	*size = used;
	h->layout.slots_here = n;
	char *place =
	        mmap(NULL, used, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (place == MAP_FAILED)
		return h;
	/* Two mappings, which older kernels do not move at once. */
	const int how = MREMAP_MAYMOVE | MREMAP_FIXED;
	if (mremap(h, ST_LAYOUT_BYTES, ST_LAYOUT_BYTES, how, place) == MAP_FAILED) {
		munmap(place, used);
		return h;
	}
	if (mremap((char *)h + ST_LAYOUT_BYTES, rest, rest, how, place + ST_LAYOUT_BYTES) !=
	    MAP_FAILED)
		return (struct st_results_header *)place;
	void *back = mremap(place, ST_LAYOUT_BYTES, ST_LAYOUT_BYTES, how, h);
	munmap(place + ST_LAYOUT_BYTES, rest);
	return back; /* where it was: nothing has taken its place */
}
