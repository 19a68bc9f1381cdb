/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-1, by which Perun names its objects. Here it detects damage, not forgery. */
#ifndef STROBE_BASE_SHA1_H
#define STROBE_BASE_SHA1_H

#include <stddef.h>

enum { ST_SHA1_BYTES = 20, ST_SHA1_HEX = 40 };

/* Writes the SHA-1 of head, followed by body, as hexadecimal digits. */
void st_sha1_hex(const void *head, size_t n_head, const void *body, size_t n_body,
                 char hex[ST_SHA1_HEX + 1]);

#endif
