/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs of static probes: what lies between a begin and its end is timed. */
#ifndef STROBE_TRACE_USDT_H
#define STROBE_TRACE_USDT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Do the names make a pair? They end in begin, entry, start, create or construct, and in end,
 * return, finish, destroy or deconstruct, and are the same before that.
 */
bool st_usdt_is_pair(const char *begin, const char *end);

enum st_usdt_role { ST_USDT_OTHER, ST_USDT_ANY, ST_USDT_BEGIN, ST_USDT_END };
/* Returns the role of a probe under a choice, PROVIDER:NAME or PROVIDER:BEGIN#END of shell
 * patterns. */
enum st_usdt_role st_usdt_chosen(const char *choice, const char *provider, const char *name);

#endif
