/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose code lies in two segments of its file, for test_unique.py. */
__attribute__((noinline, section(".apart"))) static int
apart(int n)
{
	return n * 3;
}

int
main(int argc, char **argv)
{
	(void)argv;
	return apart(argc) != 3;
}
