/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of strobe show that choose a part of a profile. */
#ifndef STROBE_CLI_SHOW_RESTRICT_H
#define STROBE_CLI_SHOW_RESTRICT_H

#include "base/status.h"
#include "profile/profile.h"

/* Restricts the profile to --process (NULL: not given) and --hide-loader. 0, or -1 with *e. */
st_status st_show_restrict(struct st_profile *p, const char *process, bool hide_loader,
                           struct st_error *e);

#endif
