/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions on mangled names that follow from a pattern for readable ones. */
#ifndef STROBE_SYMBOL_PATTERN_H
#define STROBE_SYMBOL_PATTERN_H

enum { SYM_NEEDLE = 64 };

/* A text that the mangled name of every function that the pattern fits must hold; empty when
 * nothing can be said. */
void sym_pattern_needle(const char *pattern, char needle[SYM_NEEDLE]);

#endif
