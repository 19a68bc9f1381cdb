/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of options as users write them, and what is said of wrong ones. Hosted code only. */
#ifndef STROBE_BASE_OPTION_H
#define STROBE_BASE_OPTION_H

#include <stddef.h>

#include "base/error.h"

/* Whole numbers from low to high. 0, or -1 with *e naming the option. */
st_status st_option_number(const char *option, const char *text, long low, long high, long *value,
                           struct st_error *e);

/* One of n words: its index. 0, or -1 with *e naming the option and all of them. */
st_status st_option_word(const char *option, const char *text, const char *const *words, size_t n,
                         unsigned *which, struct st_error *e);

#endif
