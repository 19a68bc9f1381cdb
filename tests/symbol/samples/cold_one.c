/* SPDX-License-Identifier: GPL-3.0-or-later */
#define NUMBER 1
#include "cold_part.h"

int
one(int x)
{
	return same_name(x) + same_name(x * 5);
}
