/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_BASE_UTF8_H
#define STROBE_BASE_UTF8_H

#include <stddef.h>

/* The length of the well-formed UTF-8 character at t, which ends with a zero; 0: there is none. */
size_t st_utf8_length(const unsigned char *t);

#endif
