/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs every transfer of transfers.S with every combination of the arithmetic flags and compares
 * all 16 registers, the flags and the 128 bytes below the stack pointer with what the transfer
 * should leave.
 */
/* strobe-test: */
#include "state.h"

int
main(void)
{
	unsigned n = 0;

	for (const struct test *t = __start_test_table; t < __stop_test_table; t++, n++) {
		for (unsigned combination = 0; combination < FLAG_COMBINATIONS; combination++) {
			set_values(combination);
			t->run();
			compare(t->name);
		}
	}
	printf("%u kinds of transfer keep registers, flags and red zone\n", n);
	return 0;
}
