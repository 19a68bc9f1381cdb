/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/syscalls.h"

#include <stddef.h>

/* Made from <asm/unistd_64.h> when Strobe is built. */
static const char *const names[] = {
#include "syscall_names.inc"
};

const char *
st_syscall_name(uint64_t number)
{
	return number < sizeof names / sizeof *names ? names[number] : NULL;
}
