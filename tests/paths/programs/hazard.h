/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the programs here share: functions that stay functions, and calls that are no tail calls. */
#ifndef STROBE_TESTS_PATHS_HAZARD_H
#define STROBE_TESTS_PATHS_HAZARD_H

#include <stddef.h>
#include <stdlib.h>

/* clang-format off */
#ifdef __cplusplus
#define NOIPA extern "C" __attribute__((noinline, noclone, noipa))
#else
#define NOIPA __attribute__((noipa))
#endif
/* clang-format on */
#define DONE __asm__ volatile("" ::: "memory") /* what is called before it is not called last */

#endif
