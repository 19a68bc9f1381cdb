/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking the controller while the program runs. os/controller.c and os/follow.c have it. */
#ifndef STROBE_RT_CONTROLLER_H
#define STROBE_RT_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

struct st_message;
/* Sends it to the controller. False when that has gone. */
bool process_tell(const struct st_message *m);
/* Is there nobody any more who would answer, or take rows? */
bool controller_is_gone(void);
/* Only: has its end of the socket been closed? While the agent has it, the process then leaves. */
bool controller_has_hung_up(void);
/* Waits until the controller changes *word, whose value was that: false when it has gone meanwhile,
 * or has not for that many seconds. */
bool controller_answers(const uint32_t *word, uint32_t value, unsigned seconds);

#endif
