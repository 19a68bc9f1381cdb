/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/utf8.h"

#include <stdbool.h>

size_t
st_utf8_length(const unsigned char *t)
{
	if (t[0] < 0x80)
		return 1;
	size_t n = t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : 2;
	if (t[0] < 0xc2 || t[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((t[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xf0 && t[1] < 0x90);
	bool surrogate = t[0] == 0xed && t[1] > 0x9f;
	bool too_large = t[0] == 0xf4 && t[1] > 0x8f;
	return overlong || surrogate || too_large ? 0 : n;
}
