/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "gate/result.h"

st_status
st_gate_replay_open(struct st_gate_replay *r, const char *path, long at, struct st_error *e)
{
	*r = (struct st_gate_replay){fopen(path, "re"), path};
	return r->file && !fseek(r->file, at, SEEK_SET)
	               ? ST_OK
	               : st_fail(e, ST_EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
}

st_status
st_gate_replay_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                    struct st_error *e)
{
	const struct st_gate_replay *r = arg;
	if (fscanf(r->file, "%lf %lf", &ns[ST_GATE_BASE], &ns[ST_GATE_TARGET]) == 2)
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE, "%s has only %s", r->path,
	               ST_COUNT(pair->number, "pair of times", "pairs of times"));
}

long
st_gate_replay_close(struct st_gate_replay *r)
{
	const long at = r->file ? ftell(r->file) : 0;
	if (r->file)
		fclose(r->file);
	r->file = NULL;
	return at;
}
