/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/native/patch.h"

#include <asm/unistd.h>
#include <linux/mman.h>

int
patch_open(void)
{
	return (int)SYS(__NR_openat, -100 /* AT_FDCWD */, "/proc/thread-self/mem",
	                0x80002 /* O_CLOEXEC | O_RDWR */);
}

void
patch_close(int patch)
{
	SYS(__NR_close, patch);
}

bool
patch_at(int patch, uint64_t to, const uint8_t *from, uint32_t n)
{
	return SYS(__NR_pwrite64, patch, from, n, to) == n;
}

bool
patch_code(uint64_t to, const uint8_t *from, uint32_t n)
{
	int patch = patch_open();
	if (patch < 0)
		return false;
	bool done = patch_at(patch, to, from, n);
	patch_close(patch);
	return done;
}

bool
patch_back(uint64_t to, const uint8_t *from, uint32_t n)
{
	uint64_t page = to & ~4095ull, bytes = ((to + n + 4095) & ~4095ull) - page;
	if (patch_code(to, from, n))
		return true;
	if (SYS(__NR_mprotect, page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	memcpy((void *)to, from, n);
	SYS(__NR_mprotect, page, bytes, PROT_READ | PROT_EXEC);
	return true;
}
