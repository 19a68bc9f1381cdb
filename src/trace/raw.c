/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "trace/aggregate.h"

enum type {
	FUNCTION_BEGIN,
	FUNCTION_END,
	PROBE,
	PROBE_BEGIN,
	PROBE_END,
	THREAD_BEGIN,
	THREAD_END,
	PROCESS_BEGIN,
	PROCESS_END,
	N_TYPES
};

/* Numbers before the semicolon: the type, the thread, perhaps its process and that one's parent,
 * the time. */
enum { LEAST_NUMBERS = 3, MOST_NUMBERS = 5 };

struct reading {
	struct st_trace_aggregate *to;
	uint64_t scale; /* nanoseconds in the unit of time */
	bool unit_is_given;
	bool strange_unit; /* the file says one that is not known */
	uint64_t lines, malformed;
};

/* The numbers before the semicolon; *name: what comes behind it. 0: they are none such. */
static unsigned
split(char *line, uint64_t numbers[MOST_NUMBERS], const char **name)
{
	char *semicolon = strchr(line, ';'), *at = line;
	unsigned n = 0;
	if (!semicolon)
		return 0;
	*semicolon = '\0';
	*name = semicolon + 1;
	while (*(at += strspn(at, " \t"))) {
		char *end;
		if (n == MOST_NUMBERS || *at < '0' || *at > '9')
			return 0;
		errno = 0;
		numbers[n++] = strtoull(at, &end, 10);
		if (errno || (*end && *end != ' ' && *end != '\t'))
			return 0;
		at = end;
	}
	return n >= LEAST_NUMBERS && **name ? n : 0;
}

static st_status
take_lane(struct reading *r, const uint64_t *numbers, unsigned n, uint64_t ns, const char *name)
{
	const enum type type = (enum type)numbers[0];
	const bool ends = type == THREAD_END || type == PROCESS_END;
	const struct st_trace_lane lane = {.is_process = type >= PROCESS_BEGIN,
	                                   .tid = (int64_t)numbers[1],
	                                   .pid = n > 3 ? (int64_t)numbers[2] : -1,
	                                   .ppid = n > 4 ? (int64_t)numbers[3] : -1,
	                                   .begin_ns = ends ? -1 : (int64_t)ns,
	                                   .end_ns = ends ? (int64_t)ns : -1};
	return st_trace_lane(r->to, &lane, name, strlen(name));
}

static st_status
take_event(struct reading *r, const uint64_t *numbers, unsigned n, const char *name)
{
	const int64_t tid = (int64_t)numbers[1];
	const uint64_t ns = numbers[n - 1] * r->scale;
	switch ((enum type)numbers[0]) {
	case FUNCTION_BEGIN:
	case PROBE_BEGIN:
		return st_trace_enter(r->to, tid, name, strlen(name), ns);
	case FUNCTION_END:
	case PROBE_END:
		return st_trace_return(r->to, tid, name, strlen(name), ns);
	case PROBE:
		if (st_trace_enter(r->to, tid, name, strlen(name), ns))
			return ST_FAILED;
		return st_trace_return(r->to, tid, name, strlen(name), ns);
	default:
		return take_lane(r, numbers, n, ns, name);
	}
}

static void
take_comment(struct reading *r, const char *line)
{
	if (r->unit_is_given)
		return;
	if (!strcmp(line, "#unit us"))
		r->scale = 1000;
	else if (!strcmp(line, "#unit ns"))
		r->scale = 1;
	else if (!strncmp(line, "#unit ", 6))
		r->strange_unit = true;
}

static st_status
take_line(struct reading *r, char *line)
{
	uint64_t numbers[MOST_NUMBERS];
	const char *name;
	if (!*line || *line == '#') {
		take_comment(r, line);
		return ST_OK;
	}
	const unsigned n = split(line, numbers, &name);
	r->lines++;
	const bool good = n && numbers[0] < N_TYPES && numbers[1] <= INT32_MAX &&
	                  numbers[n - 1] <= (uint64_t)INT64_MAX / r->scale;
	if (good)
		return take_event(r, numbers, n, name);
	r->malformed++;
	return ST_OK;
}

static st_status
take_file_raw(struct reading *r, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	st_status status = ST_OK;
	for (ssize_t n; !status && (n = getline(&line, &room, in)) > 0;) {
		while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			line[--n] = '\0';
		status = take_line(r, line);
	}
	free(line);
	return status;
}

static FILE *
open_file(const char *path, struct st_error *e)
{
	struct stat st;
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!in)
		st_cause(e, ST_EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
	else if (!fstat(fileno(in), &st) && S_ISDIR(st.st_mode))
		st_cause(e, ST_EXIT_FAILED, "cannot read %s: it is a directory", path);
	else
		return in;
	if (in)
		fclose(in);
	return NULL;
}

static st_status
finish_raw(struct st_trace *t, const struct reading *r, const char *path, struct st_error *e)
{
	if (r->strange_unit)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s says that its times are in a unit that strobe does not know: it "
		               "knows ns and us; convert the times, or say --unit",
		               path);
	if (r->lines && r->malformed == r->lines)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is no raw trace: none of its %s is of the form 'TYPE TID "
		               "TIME;NAME'",
		               path, ST_COUNT(r->lines, "line", "lines"));
	if (!r->lines)
		return st_fail(e, ST_EXIT_FAILED, "%s is empty: there is no event in it", path);
	if (st_trace_aggregate_end(r->to, t))
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", path);
	t->engine = "raw";
	t->malformed_lines = r->malformed;
	return ST_OK;
}

st_status
st_trace_read_raw(struct st_trace *t, const char *path, enum st_trace_unit unit, bool per_thread,
                  struct st_error *e)
{
	struct reading r = {.to = st_trace_aggregate_new(per_thread),
	                    .scale = unit == ST_TRACE_US ? 1000 : 1,
	                    .unit_is_given = unit != ST_TRACE_UNIT_OF_FILE};
	*t = (struct st_trace){0};
	if (!r.to)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", path);
	FILE *in = open_file(path, e);
	st_status status = in ? take_file_raw(&r, in) : ST_FAILED;
	if (in && status)
		st_cause(e, ST_EXIT_FAILED, "no memory left to read %s", path);
	if (in && !status && ferror(in))
		status = st_fail(e, ST_EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
	if (in && in != stdin)
		fclose(in);
	if (!status)
		status = finish_raw(t, &r, path, e);
	st_trace_aggregate_free(r.to);
	return status;
}
