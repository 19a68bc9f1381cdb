/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs and functions as lines of text, for a pipe and for the journal. A run is a list of numbers:
 * its noise, its outcome, its samples, its spans, and its origins; a tab and its note may follow.
 * Each text of an origin is enclosed in two of TEXT_ENDS. A function is
 * "function\tIMAGE\tOFFSET\tCALLS\tNS\tSITES\tTRAITS\tCALLEE\tCALLER\tNAME\tRAW_NAME\tWHY", with an
 * empty WHY if it takes a probe; "executed\tFILE" is another program that was executed. The journal
 * may be any file, so reading checks everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blow/blow.h"
#include "blow/contexts.h"

/* In place of the line ends of a note. */
#define NOTE_SEPARATOR '\x1d'
#define TEXT_ENDS '\x1f'

static void
line_write_note(const char *note, FILE *out)
{
	if (!note)
		return;
	fputc('\t', out);
	for (; *note; note++)
		fputc(*note == '\n'                                 ? NOTE_SEPARATOR
		      : (unsigned char)*note < ' ' && *note != '\t' ? ' '
		                                                    : *note,
		      out);
}

/* -1: memory is exhausted. */
static st_status
line_take_note(const char *text, char **note)
{
	*note = strndup(text, strcspn(text, "\n"));
	for (char *at = *note; at && *at; at++)
		*at = *at == NOTE_SEPARATOR ? '\n' : *at;
	return *note ? ST_OK : ST_FAILED;
}

static void
line_write_place(const struct st_blow_place *p, FILE *out)
{
	const char *const texts[] = {p->image, p->function};
	fprintf(out, " %" PRIu64, p->offset);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		fputc(TEXT_ENDS, out);
		for (const char *at = texts[i]; *at; at++)
			fputc((unsigned char)*at < ' ' ? ' ' : *at, out);
		fputc(TEXT_ENDS, out);
	}
}

static void
line_write_origins(const struct st_blow_run *r, FILE *out)
{
	fprintf(out, " %zu", r->origins.n);
	for (size_t i = 0; i < r->origins.n; i++) {
		const struct st_blow_origin *o = &r->origins.v[i];
		fprintf(out, " %" PRIu32 " %" PRIu32 " %" PRIu32, o->thread, o->creator, o->nth);
		line_write_place(&o->start, out);
		line_write_place(&o->call, out);
	}
}

void
st_blow_write_line(const struct st_blow_run *r, FILE *out)
{
	fprintf(out, "run %" PRIu32 " %d %" PRIu64 " %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu",
	        r->function, (int)r->noise.type, r->noise.strength, (int)r->fault, r->exit,
	        r->output, r->total_ns, r->cpu_ns, r->samples.n);
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct st_blow_sample *s = &r->samples.v[i];
		fprintf(out,
		        " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		        s->function, s->thread, s->calls, s->ns, s->noises, s->noise_ns);
	}
	fprintf(out, " %zu", r->spans.n);
	for (size_t i = 0; i < r->spans.n; i++)
		fprintf(out, " %" PRIu32 " %" PRIu64, r->spans.v[i].thread, r->spans.v[i].ns);
	line_write_origins(r, out);
	line_write_note(r->note, out);
	fputc('\n', out);
}

/* Takes the next number of the line, at most `most`. Sets *wrong if there is none, or if it was set
 * before. */
static uint64_t
take_number(const char **line, uint64_t most, bool *wrong)
{
	char *end;
	const char *from = *line;
	if (*from++ != ' ' || *from < '0' || *from > '9')
		*wrong = true;
	if (*wrong)
		return 0;
	errno = 0;
	const uint64_t n = strtoull(from, &end, 10);
	*wrong = errno || n > most;
	*line = end;
	return *wrong ? 0 : n;
}

static st_status
line_samples(struct st_blow_run *r, const char **line, uint64_t n, size_t n_functions, bool *wrong)
{
	for (uint64_t i = 0; i < n && !*wrong; i++) {
		struct st_blow_sample s;
		s.function = (uint32_t)take_number(line, UINT32_MAX, wrong);
		s.thread = (uint32_t)take_number(line, UINT32_MAX, wrong);
		s.calls = take_number(line, INT64_MAX, wrong);
		s.ns = take_number(line, INT64_MAX, wrong);
		s.noises = take_number(line, INT64_MAX, wrong);
		s.noise_ns = take_number(line, INT64_MAX, wrong);
		*wrong |= s.function >= n_functions;
		struct st_blow_sample *slot = *wrong ? NULL : ST_PUSH(&r->samples);
		if (!slot)
			return ST_FAILED;
		*slot = s;
	}
	return *wrong ? ST_FAILED : ST_OK;
}

static st_status
line_spans(struct st_blow_run *r, const char **line, bool *wrong)
{
	const uint64_t n = take_number(line, UINT32_MAX, wrong);
	for (uint64_t i = 0; i < n && !*wrong; i++) {
		struct st_blow_span s;
		s.thread = (uint32_t)take_number(line, UINT32_MAX, wrong);
		s.ns = take_number(line, INT64_MAX, wrong);
		struct st_blow_span *slot = *wrong ? NULL : ST_PUSH(&r->spans);
		if (!slot)
			return ST_FAILED;
		*slot = s;
	}
	return *wrong ? ST_FAILED : ST_OK;
}

/* Returns the text, which is to be freed; NULL: there is none, or memory is exhausted. */
static char *
line_take_text(const char **line, bool *wrong)
{
	const char *from = *line,
	           *end = *wrong || *from != TEXT_ENDS ? NULL : strchr(from + 1, TEXT_ENDS);
	char *text = end ? strndup(from + 1, (size_t)(end - from - 1)) : NULL;
	*wrong |= !text;
	if (text)
		*line = end + 1;
	return text;
}

static void
line_take_place(const char **line, struct st_blow_place *p, bool *wrong)
{
	p->offset = take_number(line, UINT64_MAX, wrong);
	p->image = line_take_text(line, wrong);
	p->function = line_take_text(line, wrong);
}

/* The line of an older version has none. */
static st_status
line_origins(struct st_blow_run *r, const char **line, bool *wrong)
{
	const uint64_t n = **line == ' ' ? take_number(line, UINT32_MAX, wrong) : 0;
	for (uint64_t i = 0; i < n && !*wrong; i++) {
		struct st_blow_origin o = {0};
		o.thread = (uint32_t)take_number(line, UINT32_MAX - 1, wrong);
		o.creator = (uint32_t)take_number(line, UINT32_MAX, wrong);
		o.nth = (uint32_t)take_number(line, UINT32_MAX - 1, wrong);
		line_take_place(line, &o.start, wrong);
		line_take_place(line, &o.call, wrong);
		struct st_blow_origin *slot = *wrong ? NULL : ST_PUSH(&r->origins);
		if (!slot) {
			st_blow_origin_clear(&o);
			return ST_FAILED;
		}
		*slot = o;
	}
	return *wrong ? ST_FAILED : ST_OK;
}

st_status
st_blow_read_line(struct st_blow_run *r, const char *line, size_t n_functions)
{
	bool wrong = false;
	*r = (struct st_blow_run){0};
	if (strncmp(line, "run", 3) != 0)
		return ST_FAILED;
	line += 3;
	struct st_blow_run read = {.function = (uint32_t)take_number(&line, UINT32_MAX, &wrong)};
	read.noise.type =
	        (enum st_blow_noise_type)take_number(&line, ST_BLOW_NOISE_COUNT - 1, &wrong);
	read.noise.strength = take_number(&line, INT64_MAX, &wrong);
	read.fault = (enum st_blow_fault)take_number(&line, ST_BLOW_FAULT_COUNT - 1, &wrong);
	read.exit = (int)take_number(&line, 255, &wrong);
	read.output = take_number(&line, UINT64_MAX, &wrong);
	read.total_ns = take_number(&line, INT64_MAX, &wrong);
	read.cpu_ns = take_number(&line, INT64_MAX, &wrong);
	const uint64_t n = take_number(&line, UINT32_MAX, &wrong);
	if (wrong || (read.function != ST_BLOW_NONE && read.function >= n_functions))
		return ST_FAILED;
	st_status status = line_samples(&read, &line, n, n_functions, &wrong);
	if (!status)
		status = line_spans(&read, &line, &wrong);
	if (!status)
		status = line_origins(&read, &line, &wrong);
	if (!status && *line == '\t')
		status = line_take_note(line + 1, &read.note);
	else if (!status && *line && *line != '\n')
		status = ST_FAILED;
	if (status) {
		st_blow_run_clear(&read);
		return ST_FAILED;
	}
	*r = read;
	st_blow_sort_samples(r);
	return ST_OK;
}

/* ---- functions ---- */

/* A file may have any names: control characters, which end fields and lines, become spaces. */
static void
write_name(const char *name, FILE *out)
{
	fputc('\t', out);
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' ? ' ' : *name, out);
}

void
st_blow_write_function(const struct st_blow_function *f, FILE *out)
{
	fputs("function", out);
	write_name(f->image, out);
	fprintf(out, "\t%" PRIx64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32, f->offset,
	        f->calls, f->ns, f->sites, f->traits);
	fprintf(out, "\t%" PRIu32 "\t%" PRIu32, f->callee, f->caller);
	write_name(f->name, out);
	write_name(f->raw_name, out);
	write_name(f->why ? f->why : "", out);
	fputc('\n', out);
}

static bool
line_number(const char *text, int base, uint64_t *n)
{
	char *end;
	errno = 0;
	*n = strtoull(text, &end, base);
	return *text && *text != '-' && *text != ' ' && !*end && !errno;
}

enum { KIND, IMAGE, OFFSET, CALLS, NS, SITES, TRAITS, CALLEE, CALLER, NAME, RAW, WHY, PARTS };

/* The two functions of a context come before it. */
static bool
line_context(const struct st_blow *b, char *const *part, struct st_blow_function *f)
{
	uint64_t callee, caller;
	if (!line_number(part[CALLEE], 10, &callee) || !line_number(part[CALLER], 10, &caller) ||
	    callee > UINT32_MAX || caller > UINT32_MAX)
		return false;
	f->callee = (uint32_t)callee;
	f->caller = (uint32_t)caller;
	return !(f->traits & ST_BLOW_IS_CONTEXT) ||
	       st_blow_is_context_of(b, callee, caller, b->functions.n);
}

static st_status
add_read_function(struct st_blow *b, char *line)
{
	char *part[PARTS] = {0}, *rest = line;
	struct st_blow_function f = {0};
	uint64_t sites, traits;
	for (int i = 0; i < PARTS; i++)
		part[i] = strsep(&rest, "\t");
	if (!part[WHY] || rest || strcmp(part[KIND], "function") != 0 ||
	    !line_number(part[OFFSET], 16, &f.offset) || !line_number(part[CALLS], 10, &f.calls) ||
	    !line_number(part[NS], 10, &f.ns) || !line_number(part[SITES], 10, &sites) ||
	    !line_number(part[TRAITS], 10, &traits) || sites > UINT32_MAX ||
	    traits > ST_BLOW_TRAITS)
		return ST_FAILED;
	f.sites = (uint32_t)sites;
	f.traits = (uint32_t)traits;
	if (!line_context(b, part, &f))
		return ST_FAILED;
	f.image = st_blow_text(b, part[IMAGE]);
	f.name = st_blow_text(b, part[NAME]);
	f.raw_name = st_blow_text(b, part[RAW]);
	f.why = *part[WHY] ? st_blow_text(b, part[WHY]) : NULL;
	struct st_blow_function *slot = f.image && f.name && f.raw_name && (f.why || !*part[WHY])
	                                        ? ST_PUSH(&b->functions)
	                                        : NULL;
	if (slot)
		*slot = f;
	return slot ? ST_OK : ST_FAILED;
}

static const char executed_prefix[] = "executed\t";

void
st_blow_write_executed(const char *executed, FILE *out)
{
	fputs("executed", out);
	write_name(executed, out);
	fputc('\n', out);
}

void
st_blow_write_selection(const struct st_blow *b, FILE *out)
{
	for (size_t i = 0; i < b->functions.n; i++)
		st_blow_write_function(&b->functions.v[i], out);
	if (b->executed)
		st_blow_write_executed(b->executed, out);
}

static st_status
line_take_executed(struct st_blow *b, const char *name)
{
	b->executed = st_blow_text(b, name);
	return b->executed ? ST_OK : ST_FAILED;
}

st_status
st_blow_read_function(struct st_blow *b, const char *line)
{
	const size_t prefix = sizeof executed_prefix - 1;
	char *copy = strndup(line, strcspn(line, "\n"));
	const st_status status = !copy ? ST_FAILED
	                         : !strncmp(copy, executed_prefix, prefix)
	                                 ? line_take_executed(b, copy + prefix)
	                                 : add_read_function(b, copy);
	free(copy);
	return status;
}
