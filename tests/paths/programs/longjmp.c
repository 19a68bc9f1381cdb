/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Long jumps out of nested frames, by setjmp, sigsetjmp with and without the mask, and the
 * compiler's own; then the calls that follow.
 */
#include "hazard.h"

#include <setjmp.h>

static jmp_buf plain;
static sigjmp_buf masked;
static void *builtin[5];

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void
f_c(void)
{
	longjmp(plain, 1);
}

NOIPA static void
f_b(void)
{
	f_c();
	DONE;
}

NOIPA static void
f_a(void)
{
	f_b();
	DONE;
}

NOIPA static void
f_set(void)
{
	if (!setjmp(plain))
		f_a();
	f_after();
	DONE;
}

NOIPA static void
f_sigc(void)
{
	siglongjmp(masked, 1);
}

NOIPA static void
f_siga(void)
{
	f_sigc();
	DONE;
}

NOIPA static void
f_sigset(int mask)
{
	if (!sigsetjmp(masked, mask))
		f_siga();
	f_after();
	DONE;
}

NOIPA static void
f_builtin_c(void)
{
	__builtin_longjmp(builtin, 1);
}

NOIPA static void
f_builtin_a(void)
{
	f_builtin_c();
	DONE;
}

NOIPA static void
f_builtin(void)
{
	if (!__builtin_setjmp(builtin))
		f_builtin_a();
	f_after();
	DONE;
}

int
main(void)
{
	for (int i = 0; i < 3; i++)
		f_set();
	for (int i = 0; i < 2; i++)
		f_sigset(i);
	for (int i = 0; i < 2; i++)
		f_builtin();
	return 0;
}
