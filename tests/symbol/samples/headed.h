/* SPDX-License-Identifier: GPL-3.0-or-later */
static inline __attribute__((always_inline)) int
headed_square(int x)
{
	return x * x;
}
