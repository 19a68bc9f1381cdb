/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_BASE_ADDRESS_H
#define STROBE_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is a password in the n bytes "//USER:PASSWORD@HOST", or
 * "//HOST/DATABASE?password=...". */
bool st_address_has_password(const char *text, size_t n);

#endif
