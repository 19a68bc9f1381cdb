/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_COLLECT_SYSCALLS_H
#define STROBE_COLLECT_SYSCALLS_H

#include <stdint.h>

/* The name of a system call of x86-64, or NULL. */
const char *st_syscall_name(uint64_t number);

#endif
