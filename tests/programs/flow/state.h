/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The C side of harness.inc.S: known values before a test, comparison after it. */
#ifndef STROBE_TESTS_FLOW_STATE_H
#define STROBE_TESTS_FLOW_STATE_H

#include "check.h"

struct test {
	void (*run)(void);
	const char *name;
};

extern const struct test __start_test_table[], __stop_test_table[];
extern uint64_t want[16], got[16], want_zone[16], got_zone[16], want_flags, got_flags;

#define ARITHMETIC_FLAGS 0x8d5u
#define FLAG_COMBINATIONS 64

static inline void
set_values(unsigned combination)
{
	static const unsigned bits[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800};

	for (unsigned i = 0; i < 16; i++) {
		if (i != 4)
			want[i] = 0x0101010101010101ull * (i + 1) ^ (uint64_t)combination << 32;
		want_zone[i] = 0xa5a5000000000000ull | i << 8 | combination;
	}
	want_flags = 0x202;
	for (unsigned i = 0; i < 6; i++)
		if (combination & 1u << i)
			want_flags |= bits[i];
}

static inline void
compare(const char *name)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

	for (unsigned i = 0; i < 16; i++)
		CHECK(got[i] == want[i], "%s, flags %#lx: %s is %#lx, should be %#lx", name,
		      want_flags, names[i], got[i], want[i]);
	CHECK((got_flags & ARITHMETIC_FLAGS) == (want_flags & ARITHMETIC_FLAGS),
	      "%s: flags %#lx, should be %#lx", name, got_flags, want_flags);
	for (unsigned i = 0; i < 16; i++)
		CHECK(got_zone[i] == want_zone[i], "%s: word at rsp-%u is %#lx, should be %#lx",
		      name, 8 * (i + 1), got_zone[i], want_zone[i]);
}

#endif
