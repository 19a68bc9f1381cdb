/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/address.h"

#include <string.h>

bool
st_address_has_password(const char *text, size_t n)
{
	size_t host = n > 2 ? strcspn(text + 2, "/? \t\n") : 0;
	const char *user = memchr(text + 2 * (n > 2), '@', host);
	const char *option = strstr(text, "password=");
	return (user && memchr(text + 2, ':', (size_t)(user - text - 2))) ||
	       (option && option < text + n);
}
