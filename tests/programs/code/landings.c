/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A call whose block changes again and again, while the code that it returns to, in the next page,
 * stays: what an engine keeps for the way back must not pile up with each translation of the call.
 */
/* strobe-test: stress=cache */
#include "code/emit.h"

enum { PAGE_SIZE = 4096, CALL_LEN = 5, CHANGES = 120000 };

int
main(void)
{
	unsigned char *pages = map_code(3 * PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC),
	              *back = pages + PAGE_SIZE;
	unsigned char *caller = back - CALL_LEN - 5, *callee = back + PAGE_SIZE;
	int distance = PAGE_SIZE;

	caller[0] = 0xb8; /* mov $imm32, %eax; call callee */
	caller[5] = 0xe8;
	memcpy(caller + 6, &distance, 4);
	*back = *callee = 0xc3; /* ret */
	call(back);             /* known before the call is */
	for (int i = 0; i < CHANGES; i++) {
		memcpy(caller + 1, &i, 4);
		CHECK_EQ(call(caller), i);
	}
	puts("each call returned what its changed code says");
	return 0;
}
