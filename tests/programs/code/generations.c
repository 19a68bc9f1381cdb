/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that generates 3.7 million functions, 65,535 at a time at the same addresses, and calls
 * each once: more basic blocks than most tables have room for without growing.
 */
/* strobe-test: tools=inscount timeout=180 */
#include "code/emit.h"

enum { FUNCTIONS = 3700000, EACH = 16, BYTES = 1 << 20, AT_ONCE = BYTES / EACH - 1 };

int
main(void)
{
	long sum = 0, want = 0, done = 0;

	while (done < FUNCTIONS) {
		long n = FUNCTIONS - done < AT_ONCE ? FUNCTIONS - done : AT_ONCE;
		char *code = map_code(BYTES, PROT_READ | PROT_WRITE);

		for (long i = 0; i < n; i++)
			emit_return(code + EACH * i, (int)i);
		CHECK(!mprotect(code, BYTES, PROT_READ | PROT_EXEC), "mprotect");
		for (long i = 0; i < n; i++)
			sum += call(code + EACH * i);
		CHECK(!munmap(code, BYTES), "munmap");
		want += n * (n - 1) / 2;
		done += n;
	}
	CHECK_EQ(sum, want);
	printf("%ld functions\n", done);
	return 0;
}
