/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing into the program's code, whatever its protection: through /proc/self/mem. */
#ifndef STROBE_RT_NATIVE_PATCH_H
#define STROBE_RT_NATIVE_PATCH_H

#include "rt/rt.h"

/* Of several writes; < 0: not possible. */
int patch_open(void);
void patch_close(int patch);
bool patch_at(int patch, uint64_t to, const uint8_t *from, uint32_t n);

/* A single one. */
bool patch_code(uint64_t to, const uint8_t *from, uint32_t n);
/* Puts back what was there. Also where the former has become impossible: no descriptor is left,
 * say. */
bool patch_back(uint64_t to, const uint8_t *from, uint32_t n);

#endif
