/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a probe:
 *
 *     push $INDEX                  the handler finds it at 8(%rsp)
 *     call *SLOT(%rip)             the handler; it preserves all registers and the flags
 *     lea 8(%rsp), %rsp
 *     the displaced instructions
 *     jmp to what follows them     not where they end in a jump or a return
 *
 * Of a point within a function (site->inside), the code may have data in the 128 bytes below the
 * stack pointer: the stub begins with lea -128(%rsp), %rsp, and adds 136 bytes afterwards.
 *
 * A handler that stands for the function (where->answers) is a function itself, which gets the
 * function's first two arguments, the number, and the address of the displaced instructions: by
 * calling that, it calls the function.
 *
 *     lea REST(%rip), %rcx
 *     mov $INDEX, %edx
 *     jmp *SLOT(%rip)
 *     REST: the displaced instructions, and so on
 *
 * A displaced call pushes the return address that it pushed where it stood, and jumps: no address
 * of a stub is ever on the program's stack, apart from the handler's own.
 */
#ifndef STROBE_PROBE_STUB_H
#define STROBE_PROBE_STUB_H

#include <stdbool.h>

#include "base/status.h"
#include "probe/site.h"

enum { ST_PROBE_STUB_MOST = 112, ST_PROBE_STUB_REST = 18 };

struct st_probe_where {
	uint64_t bias;    /* what is added to link-time addresses */
	uint64_t stub;    /* where the stub will be executed */
	uint64_t slot;    /* where the handler's address is */
	uint32_t index;   /* < 2^31 */
	bool answers;     /* the handler stands for the function: as below */
	uint64_t returns; /* where the address of the handler of patched exits is; 0: a displaced
	                     instruction that leaves the function does not call it */
};

/* A displaced instruction: bytes from the function's entry, and from the stub's begin. A thread
 * that is stopped at the one goes on at the other. */
struct st_probe_insn {
	uint8_t from, to;
};

struct st_probe_stub {
	uint8_t size, patched;
	uint8_t bytes[ST_PROBE_STUB_MOST];
	uint8_t patch[ST_PROBE_JUMP_LENGTH];  /* `patched` bytes for the function's entry */
	uint8_t island[ST_PROBE_JUMP_LENGTH]; /* for the island, if there is one: to be written
	                                         first */
	uint8_t insns;
	struct st_probe_insn map[ST_PROBE_MOST_INSNS];
};

/* Fails when something is farther away than 2 GiB. */
st_status st_probe_stub(const struct st_probe_site *site, const struct st_probe_where *where,
                        struct st_probe_stub *out);

#endif
