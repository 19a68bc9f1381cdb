/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_SYMBOL_VDSO_H
#define STROBE_SYMBOL_VDSO_H

#include <stddef.h>

/* A malloc'ed copy of this process's vdso; NULL when the kernel gave none. */
void *sym_vdso_copy(size_t *size);

#endif
