/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/shell.h"

#include <unistd.h>

#include "job/child.h"

st_status
st_job_shell_run(const struct st_job_shell *s, const char *const *commands, size_t n,
                 struct st_job_shell_end *out, struct st_error *e)
{
	const struct st_child c = {.folder = s->folder, .output = s->log, .errors = s->log};
	st_status status = ST_OK;
	*out = (struct st_job_shell_end){0};
	for (size_t i = 0; i < n && !status && !out->failed && !out->interrupted; i++) {
		struct st_child_end end;
		if (s->show)
			s->show(s->arg, commands[i]);
		status = st_child_shell(&c, commands[i], &end, e);
		out->interrupted = !status && end.interrupted;
		if (status || !end.exit || end.interrupted)
			continue;
		out->failed = commands[i];
		out->exit = end.exit;
	}
	if (!out->failed)
		unlink(s->log);
	return status;
}
