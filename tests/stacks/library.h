/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_TESTS_STACKS_LIBRARY_H
#define STROBE_TESTS_STACKS_LIBRARY_H

#include <stdint.h>

/* About four cycles each. */
void spin(uint64_t times);
/* Calls work(times) from a frame of a size that only the unwind information tells. */
void without_frame_pointer(uint64_t times, void (*work)(uint64_t));

#endif
