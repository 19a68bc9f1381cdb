/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fib(20) by recursion. With C(n) calls, C(0) = C(1) = 1, C(n) = C(n-1) + C(n-2) + 1: C(20) =
 * 21891, of which 10945 go on and 10946 are leaves. A leaf takes cmp, jb, mov, ret (blocks: jb,
 * ret); another cmp, jb, push, dec, push, call, pop, push, sub, call, pop, add, pop, ret (blocks:
 * jb, call, call, ret). Around: mov, call, cmp, jne and the exit.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=197021 blocks=65675 */
#include "count/count.inc.S"

	START
	mov $20, %edi
	call fib
	cmp $6765, %eax
	jne 1f
	EXIT
1:	EXIT 1
fib:	cmp $2, %edi
	jb 1f
	push %rdi
	dec %edi
	push %rdi
	call fib
	pop %rdi
	push %rax
	sub $1, %edi
	call fib
	pop %rdi
	add %edi, %eax
	pop %rdi
	ret
1:	mov %edi, %eax
	ret
	END
