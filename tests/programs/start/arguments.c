/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints its arguments and what it was executed as: the interpreter of scripts whose first line
 * names it, with and without an argument, directly and through another script; and with many, long
 * and odd arguments.
 */
/* strobe-test: name=plain args="a 'b c' '' '--' '-t' 'null'" stress=none */
/* strobe-test: name=script script="#!PROGRAM" args="x y" stress=none */
/* strobe-test: name=script_argument script="#!PROGRAM  one  argument " args=x stress=none */
/* strobe-test: name=shell script="#!/bin/sh\nPROGRAM \"$@\"\nexit 9" args="p q" exit=9 follow=1 stress=none */
/* strobe-test: name=exec script="#!/bin/sh\nexec PROGRAM after exec" follow=1 stress=none */
/* strobe-test: name=env script="#!/usr/bin/env -S PROGRAM by env" args=z follow=1 stress=none */
/* strobe-test: name=input args=- stdin="some input" stress=none */
#include "check.h"
#include <libgen.h>
#include <sys/auxv.h>

int
main(int argc, char **argv)
{
	char exe[4096] = "", text[4096];
	char *execfn = (char *)(uintptr_t)getauxval(AT_EXECFN);

	CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0, "readlink");
	printf("argv[0] %s, exe %s, executed as %s\n", basename(argv[0]), basename(exe),
	       basename(execfn));
	for (int i = 1; i < argc; i++)
		printf("<%s>\n", argv[i]);
	if (argc == 2 && !strcmp(argv[1], "-"))
		while (fgets(text, sizeof text, stdin))
			printf("read %s\n", text);
	return 0;
}
