/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two libraries are made of this, with a FUNCTION of another name. */
#include "hazard.h"

NOIPA int FUNCTION(int n);
NOIPA int f_entry(int n);

NOIPA int
FUNCTION(int n)
{
	DONE;
	return n + 1;
}

NOIPA int
f_entry(int n)
{
	int sum = FUNCTION(n);
	DONE;
	return sum;
}
