/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --hide-pauses cannot hide from a program. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "blow/hidden.h"
#include "cli/blow.h"
#include "control/program.h"

static bool
find_program_file(const struct st_blow_arguments *a, char *path)
{
	char link[64];
	bool by_env = false;
	struct st_error ignored;
	snprintf(link, sizeof link, "/proc/%ld/exe", a->pid);
	return a->pid ? realpath(link, path) != NULL
	              : !st_program_image(a->session.program[0], path, PATH_MAX, &by_env, &ignored);
}

void
st_blow_say_unhidden(const struct st_blow_arguments *a)
{
	char path[PATH_MAX];
	char *limit = a->options.how.hides_pauses && find_program_file(a, path)
	                      ? st_hidden_limit(path)
	                      : NULL;
	if (limit)
		fprintf(stderr, "strobe: %s\n", limit);
	free(limit);
}
