/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code that is inlined into lines.c, at lines of this file. */
static inline unsigned
mix(unsigned x)
{
	x ^= x << 3;
	return x * 5 + 1;
}
