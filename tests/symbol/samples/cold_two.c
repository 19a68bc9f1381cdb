/* SPDX-License-Identifier: GPL-3.0-or-later */
#define NUMBER 2
#include "cold_part.h"

int
two(int x)
{
	return same_name(x) * same_name(x + 2);
}
