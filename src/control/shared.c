/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is the same in every program that the engine goes into: one memory file, which all of them
 * map. The runtime's text and data, and lookup tables that are empty. So a program has pages of its
 * own only for what it writes.
 *
 * The entries of a table are addresses, so it is made for one place; nearly every program has room
 * at the first one that is tried.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "control/internal.h"

static struct st_shared shared = {.fd = -1};

/* An entry of an empty table leads here: a pad without a block, behind the tables. Returns enter it
 * at its beginning, jumps behind its first instruction. */
enum { STORED = 5 }; /* mov [rsp - 8], rdx */
static const unsigned char miss_code[] = {
        0x48, 0x89, 0x54, 0x24, 0xf8, /* as in every pad */
        0x65, 0xff, 0x24, 0x25, offsetof(struct st_thread_head, miss),
        0,    0,    0, /* jmp gs:[miss] */
};
_Static_assert(offsetof(struct st_thread_head, miss) < 256, "one byte is enough for it");

static bool
write_tables(int fd, uint64_t lookup)
{
	enum { PIECE = 4096, EACH = ST_LOOKUP_BYTES / 4 / PIECE / 8 };
	static uint64_t pieces[2][PIECE];
	struct iovec parts[4 * EACH + 1];
	for (unsigned i = 0; i < PIECE; i++) {
		pieces[0][i] = lookup + ST_LOOKUP_BYTES + STORED;
		pieces[1][i] = lookup + ST_LOOKUP_BYTES;
	}
	for (unsigned i = 0; i < 4 * EACH; i++)
		parts[i] = (struct iovec){pieces[i / EACH % 2], sizeof pieces[0]};
	parts[4 * EACH] = (struct iovec){(void *)miss_code, sizeof miss_code};
	return pwritev(fd, parts, 4 * EACH + 1, ST_SHARED_LOOKUP) ==
	       (ssize_t)(ST_LOOKUP_BYTES + sizeof miss_code);
}

/*
 * Nobody can write to it afterwards, since others execute it. The seal for writes to come is
 * enough, as nobody has it mapped yet; F_SEAL_WRITE fails with EBUSY while the kernel moves one of
 * its pages.
 */
static bool
write_file(int fd, const struct st_runtime_image *image, uint64_t lookup)
{
	const int for_good = F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	return ftruncate(fd, ST_SHARED_LOOKUP + ST_LOOKUP_MAPPED) == 0 &&
	       pwrite(fd, image->bytes, image->file_size, 0) == (ssize_t)image->file_size &&
	       write_tables(fd, lookup) && fcntl(fd, F_ADD_SEALS, for_good) == 0;
}

const struct st_shared *
st_shared_for(uint64_t lookup, struct st_error *e)
{
	if (shared.fd >= 0 && shared.lookup == lookup)
		return &shared;
	if (!shared.image.bytes && st_runtime_image_load(&shared.image, e) != 0)
		return NULL;
	int fd = memfd_create("strobe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || !write_file(fd, &shared.image, lookup)) {
		st_cause(e, ST_EXIT_FAILED, "cannot write the runtime: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (shared.fd >= 0)
		close(shared.fd);
	shared.fd = fd;
	shared.lookup = lookup;
	return &shared;
}
