/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_CLI_OWNSTACK_H
#define STROBE_CLI_OWNSTACK_H

/* What function returns, called on a stack of strobe's own where the one that it was given (ulimit
 * -s) is for a smaller program. The limit stays as it is: it is the measured program's. */
int st_on_own_stack(int (*function)(int argc, char **argv), int argc, char **argv);

#endif
