/* SPDX-License-Identifier: GPL-3.0-or-later */
static inline int
inlined_square(int x)
{
	int y = x;
	if (x & 1)
		y += 3;
	return y * x;
}

int asm_sized(int x);
int asm_unsized(int x);
int other_file(int x);
