/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goes from block to block by the letters a and b of a line: two lines with the same letters
 * execute the same blocks equally often, but may take other edges. Then it calls a function for
 * each c and each d. */
#include <stdio.h>

long in_a, in_b;
void follow_letters(const char *text); /* a and b, up to c */

__asm__(".text\n"
        "follow_letters:\n"
        "	jmp next_letter_of_c\n"
        "letter_a:\n"
        "	incq in_a(%rip)\n"
        "	movzbl (%rdi), %eax\n"
        "	incq %rdi\n"
        "	leaq letters(%rip), %rdx\n"
        "	jmp *-776(%rdx, %rax, 8)\n" /* 'a' * 8 */
        "letter_b:\n"
        "	incq in_b(%rip)\n"
        "next_letter_of_c:\n"
        "	movzbl (%rdi), %eax\n"
        "	incq %rdi\n"
        "	leaq letters(%rip), %rdx\n"
        "	jmp *-776(%rdx, %rax, 8)\n"
        "letter_c:\n"
        "	ret\n"
        ".section .data.rel.ro, \"aw\"\n"
        "letters:\n"
        "	.quad letter_a, letter_b, letter_c\n"
        ".text\n");

static volatile long called;

static void
call_c(void)
{
	called++;
}

static void
call_d(void)
{
	called += 2;
}

static void (*volatile const functions[])(void) = {call_c, call_d};

int
main(void)
{
	static char line[1 << 16];
	char *end = line;
	if (!fgets(line, sizeof line, stdin))
		return 0;
	while (*end == 'a' || *end == 'b')
		end++;
	for (const char *at = end; *at == 'c' || *at == 'd'; at++)
		functions[*at - 'c']();
	*end = 'c';
	follow_letters(line);
	return 0;
}
