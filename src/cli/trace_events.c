/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats of strobe trace that are made of entries and returns, one by one. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/rows.h"
#include "cli/trace.h"
#include "export/trace_events.h"
#include "export/trace_stacks.h"
#include "profile/output.h"
#include "report/text.h"
#include "rows/rowfile.h"

/* As many bytes of stacks as strobe paths writes unless told otherwise. */
enum { MOST_STACKS = 256 << 20 };

static st_status
write_stacks(const struct st_profile *p, struct st_row_reader *rows,
             const struct st_trace_arguments *a, FILE *out, struct st_error *e)
{
	const struct st_context_limit limit = {.bytes = MOST_STACKS};
	const struct st_context_format *format = st_context_formats;
	struct st_context_cut cut;
	struct st_safe safe;
	while (strcmp(format->name, st_trace_form_name(a->form)))
		format++;
	/* Text goes to terminals, and names in a profile can be anything. */
	if (format->printable && !st_safe_begin(&safe, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to write the stacks");
	const st_status status = st_trace_write_stacks(p, rows, format, &limit, &cut,
	                                               format->printable ? safe.text.out : out, e);
	if (format->printable)
		st_safe_end(&safe);
	if (!status && cut.contexts)
		fprintf(stderr,
		        "strobe: %s of %s stacks are left out, those with the least time (%.1f "
		        "%% of it), because all would take more than 256 MiB\n",
		        ST_NUMBER(cut.contexts), ST_NUMBER(cut.of), 100 * cut.worth);
	return status;
}

static st_status
write_rows_trace(const struct st_profile *p, struct st_row_reader *rows,
                 const struct st_trace_arguments *a, FILE *out, struct st_error *e)
{
	if (a->form == ST_TRACE_RAW)
		return st_trace_write_raw(rows, out, e);
	if (a->form == ST_TRACE_TIMELINE)
		return st_trace_write_timeline(p, rows, out, e);
	return write_stacks(p, rows, a, out, e);
}

static st_status
write_no_events(const struct st_profile *p, const struct st_trace_arguments *a, FILE *out,
                struct st_error *e)
{
	if (a->form != ST_TRACE_RAW && a->form != ST_TRACE_TIMELINE)
		return write_stacks(p, NULL, a, out, e);
	fputs(a->form == ST_TRACE_RAW ? "#unit ns\n" : "{\"traceEvents\":[]}\n", out);
	return ST_OK;
}

st_status
st_trace_write_events(const struct st_profile *p, const char *profile,
                      const struct st_trace_arguments *a, FILE *out, struct st_error *e)
{
	const char *output = profile ? a->measure.session.output.path : NULL;
	/* A run in which nothing was called has no rows, and yet a format without events. */
	if (!profile && !p->streams.n)
		return write_no_events(p, a, out, e);
	if (!p->streams.n) {
		st_cause(e, ST_EXIT_USAGE,
		         "%s has no entries and returns: record them with strobe trace --events",
		         profile);
		return ST_FAILED;
	}
	char *path = st_find_rows(p, profile ? profile : "", "events", e);
	if (path && output && st_output_check_input(output, path, e)) {
		free(path);
		return ST_FAILED;
	}
	struct st_row_reader *rows = path ? st_row_reader_open(path, e) : NULL;
	free(path);
	if (!rows)
		return ST_FAILED;
	const st_status status = write_rows_trace(p, rows, a, out, e);
	st_row_reader_close(rows);
	return status;
}
