/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_BASE_UTF8_H
#define STROBE_BASE_UTF8_H

#include <stddef.h>

/* How many bytes at t, which ends with a zero, make one well-formed UTF-8 character; 0: none. */
size_t st_utf8_length(const unsigned char *t);

#endif
