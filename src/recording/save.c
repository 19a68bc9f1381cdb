/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/save.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "profile/output.h"

/* *writer_failed: the file is not the reason. */
static st_status
recording_save_to(const char *path, st_recording_writer *write, const void *arg,
                  struct st_recording_outcome *outcome, bool *writer_failed, struct st_error *e)
{
	struct st_output o;
	FILE *out;
	*writer_failed = false;
	outcome->functions = 0;
	outcome->records = outcome->calls = 0;
	if (st_output_begin(&o, path, e))
		return ST_FAILED;
	if (st_output_stream(&o, &out, e)) {
		st_output_abandon(&o);
		return ST_FAILED;
	}
	*writer_failed = write(arg, out, outcome, e) != ST_OK;
	const st_status closed = st_output_close(&o, out, *writer_failed ? NULL : e);
	if (!*writer_failed && !closed)
		return st_output_commit(&o, e);
	st_output_abandon(&o);
	return ST_FAILED;
}

st_status
st_recording_save(const char *path, st_recording_writer *write, const void *arg,
                  struct st_recording_outcome *outcome, struct st_error *e)
{
	const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
	bool writer_failed;
	if (!recording_save_to(path, write, arg, outcome, &writer_failed, e))
		return ST_OK;
	bool saved = false;
	for (size_t i = 0; !writer_failed && !saved && i < sizeof places / sizeof *places; i++) {
		char *other = places[i] && *places[i]
		                      ? st_text_of("%s/%s.%d", places[i], st_base_name(path),
		                                   (int)getpid())
		                      : NULL;
		bool failed;
		saved = other && !recording_save_to(other, write, arg, outcome, &failed, NULL);
		if (saved)
			st_append(e->text, sizeof e->text, "; the records were saved in %s", other);
		free(other);
	}
	return ST_FAILED;
}

/* ---- during the run ---- */

/* Least time between two files, in seconds, and as a multiple of the time that writing one takes.
 */
static const double interim_seconds = 1, interim_rest = 49;

bool
st_recording_interim_due(struct st_recording_interim *i)
{
	const double now = st_now_raw();
	if (!i->begin) {
		i->begin = now;
		i->next = now + interim_seconds;
	}
	return now >= i->next;
}

bool
st_recording_interim_save(struct st_recording_interim *i, const char *path,
                          st_recording_writer *write, const void *arg)
{
	struct st_recording_outcome outcome = {0};
	struct stat st;
	bool writer_failed;
	const double begin = st_now_raw();
	const bool saved = (stat(path, &st) || S_ISREG(st.st_mode)) &&
	                   !recording_save_to(path, write, arg, &outcome, &writer_failed, NULL);
	const double end = st_now_raw(), pause = interim_rest * (end - begin);
	i->next = end + (pause > interim_seconds ? pause : interim_seconds);
	return saved;
}
