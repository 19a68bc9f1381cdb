/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static probes, as sys/sdt.h writes them: argument N. Passes single N times, a pair twice as
 * often, of which the inner part is in another function, and a pair of odd names once. Says whether
 * somebody listens to `single`. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PROBE(name, semaphore, arguments)                                                          \
	__asm__ volatile("990: nop\n"                                                              \
	                 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
	                 ".balign 4\n"                                                             \
	                 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
	                 "991: .asciz \"stapsdt\"\n"                                               \
	                 "992: .balign 4\n"                                                        \
	                 "993: .8byte 990b\n"                                                      \
	                 ".8byte _.stapsdt.base\n"                                                 \
	                 ".8byte " semaphore "\n"                                                  \
	                 ".asciz \"strobetest\"\n"                                                 \
	                 ".asciz \"" name "\"\n"                                                   \
	                 ".asciz \"" arguments "\"\n"                                              \
	                 "994: .balign 4\n"                                                        \
	                 ".popsection\n"                                                           \
	                 ".ifndef _.stapsdt.base\n"                                                \
	                 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"   \
	                 ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                          \
	                 "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"                     \
	                 ".popsection\n.endif\n" ::                                                \
	                         : "memory")

__attribute__((section(".probes"), used)) volatile unsigned short strobetest_single_semaphore;

static void
spin(double seconds)
{
	struct timespec from, now;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((double)(now.tv_sec - from.tv_sec) + (double)(now.tv_nsec - from.tv_nsec) * 1e-9 <
	       seconds);
}

__attribute__((noinline)) static void
ends(void)
{
	PROBE("query__end", "0", "");
}

int
main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 3;
	for (int i = 0; i < n; i++)
		PROBE("single", "strobetest_single_semaphore", "-4@$7");
	for (int i = 0; i < 2 * n; i++) {
		PROBE("query__start", "0", "-4@$1 8@%%rsp");
		spin(0.001);
		ends();
	}
	PROBE("odd", "0", "");
	PROBE("even", "0", "");
	puts(strobetest_single_semaphore ? "listened to" : "alone");
	return 0;
}
