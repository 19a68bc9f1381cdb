/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Return addresses that probes have replaced on the stacks of a process. */
#ifndef STROBE_BLOW_REPLACED_H
#define STROBE_BLOW_REPLACED_H

#include "probe/probes.h"

/* The return address of the program whose place on the stack is `slot`, where a probe has put that
 * of its own code. The thread is stopped. 0: it is not known. */
uint64_t st_blow_replaced_address(const struct st_probing *p, uint64_t slot);

#endif
