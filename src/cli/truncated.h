/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_TRUNCATED_H
#define STROBE_CLI_TRUNCATED_H

/* From here on a file that somebody makes shorter while it is mapped reads as zeros where it has
 * ended.
 */
void st_survive_truncation(void);

#endif
