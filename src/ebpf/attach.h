/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting many probes at once. The kernel puts all of a list or none: when one place cannot be
 * probed, the list is halved until that one is alone.
 */
#ifndef STROBE_EBPF_ATTACH_H
#define STROBE_EBPF_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct st_ebpf_attempt {
	/* Puts n probes from number `first` on. 0, or a positive errno: none of them is there. */
	int (*put)(void *arg, size_t first, size_t n);
	/* The probe cannot be put, the kernel says why. */
	void (*refuse)(void *arg, size_t at, int error);
	void *arg;
};

/* Puts n probes. 0, or the errno of a failure that is not about one place: then some may be there.
 */
int st_ebpf_put_all(const struct st_ebpf_attempt *a, size_t n);
/* Why the kernel refuses a probe. */
const char *st_ebpf_refusal(int error);

/* Whether the kernel certainly refuses a probe at an instruction, of whose code n bytes are given:
 * it does not know vector instructions, and no lock prefixes. */
bool st_ebpf_is_refused(const uint8_t *code, size_t n);
/* Whether the kernel executes the first instruction of a function, of whose code n bytes are given,
 * by a single step out of its place, which takes ten times as long as emulating it. */
bool st_ebpf_is_stepped(const uint8_t *code, size_t n);

#endif
