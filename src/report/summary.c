/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/words.h"
#include "profile/waits.h"
#include "report/budget.h"
#include "report/kept.h"
#include "report/measurements.h"
#include "report/mem.h"
#include "report/qos.h"
#include "report/report.h"
#include "wire/results/header.h"

static void
print_printable(FILE *out, const char *text)
{
	char *clean = st_printable(text);
	fputs(clean ? clean : "", out);
	free(clean);
}

/* A user who traces has not named the tool that does it, nor its options. */
static const char *
shown_tool(const char *tool)
{
	static const char tracer[] = "calltimes";
	return strncmp(tool, tracer, sizeof tracer - 1) || strchr(tool, ' ') ? tool : "trace";
}

static void
summary_print_command(FILE *out, const struct st_profile_run *run, size_t width)
{
	struct st_text built;
	FILE *text = st_text_begin(&built);
	if (!text)
		return;
	for (size_t i = 0; i < run->command.n; i++)
		fprintf(text, "%s%s", i ? " " : "", run->command.v[i]);
	char *line = st_text_end(&built);
	char *clean = line ? st_printable(line) : NULL;
	/* A command can be longer than anyone wants to read here; the profile has all of it. */
	if (clean)
		st_shorten(clean, width > 40 ? width - 20 : 200);
	fprintf(out, "strobe: %s%s%s\n", shown_tool(run->tool), run->command.n ? " of " : "",
	        clean ? clean : "");
	free(clean);
	free(line);
}

/* Between what it is: the run does not know more. */
static void
print_slowdown(FILE *out, const struct st_slowdown *is)
{
	int digits = is->most < 2 ? 2 : is->most < 10 ? 1 : 0;
	if (is->about > 0)
		fprintf(out, "; slowdown of CPU time %.*f to %.*f (estimated)\n", digits, is->least,
		        digits, is->most);
	else
		fputs("; slowdown of CPU time: unknown\n", out);
}

/* The programs of the first process: the one that was started, and what it has executed since. Of
 * many the last ones matter. */
static void
summary_print_programs(FILE *out, const struct st_profile *p, size_t programs)
{
	enum { MOST_PROGRAMS = 6, FIRST_PROGRAMS = 3 };
	size_t at = 0;
	for (size_t k = 0; k < programs; k++, at = st_profile_became(p, at)) {
		if (programs > MOST_PROGRAMS && k == FIRST_PROGRAMS)
			fputs(", ...", out);
		if (programs > MOST_PROGRAMS && k >= FIRST_PROGRAMS &&
		    k < programs - (MOST_PROGRAMS - FIRST_PROGRAMS))
			continue;
		fputs(k ? ", " : ": ", out);
		print_printable(out, st_base_name(p->processes.v[at].command));
	}
}

static void
summary_print_processes(FILE *out, const struct st_profile *p)
{
	const size_t processes = st_profile_count_processes(p);
	size_t programs = 1;
	if (p->processes.n < 2)
		return;
	for (size_t at = 0; (at = st_profile_became(p, at)) < p->processes.n;)
		programs++;
	if (processes == 1)
		fprintf(out, "  totals of %s that the process executed",
		        ST_COUNT(programs, "program", "programs"));
	else
		fprintf(out, "  totals of %s%s", ST_COUNT(processes, "process", "processes"),
		        programs > 1 ? "; the first one executed" : "");
	if (programs > 1)
		summary_print_programs(out, p, programs);
	putc('\n', out);
}

/* Prints how each of the chosen processes ended, for at most MOST_CHOSEN of them. */
static void
summary_print_chosen(FILE *out, const struct st_profile *p)
{
	enum { MOST_CHOSEN = 10 };
	const bool programs = p->chosen_of > p->chosen_of_processes;
	fprintf(out, "  %s of %s", ST_NUMBER(p->processes.n),
	        programs ? ST_COUNT(p->chosen_of, "program", "programs")
	                 : ST_COUNT(p->chosen_of, "process", "processes"));
	if (programs)
		fprintf(out, " that %s executed",
		        ST_COUNT(p->chosen_of_processes, "process has", "processes have"));
	putc('\n', out);
	for (size_t i = 0; i < p->processes.n && i < MOST_CHOSEN; i++) {
		const struct st_profile_process *in = &p->processes.v[i];
		char wall[ST_NUMBER_SIZE];
		fprintf(out, "  process %" PRId64 ", ", in->pid);
		print_printable(out, st_base_name(in->command));
		if (in->signal)
			fprintf(out, ": killed by signal %" PRId64, in->signal);
		else if (in->exited)
			fprintf(out, ": exited with %" PRId64, in->exit);
		else
			fprintf(out, ": %s", st_profile_state_name(in->state));
		if (in->wall_ns >= 0) /* it has executed an instruction */
			fprintf(out, " after %s", st_duration(wall, in->wall_ns));
		fprintf(out, "; %s\n", ST_COUNT(in->instructions, "instruction", "instructions"));
	}
	if (p->processes.n > MOST_CHOSEN)
		fprintf(out, "  ... and %s more\n", ST_NUMBER(p->processes.n - MOST_CHOSEN));
}

static void
summary_print_end(FILE *out, const struct st_profile *p)
{
	const struct st_profile_run *run = &p->run;
	char wall[ST_NUMBER_SIZE], cpu[ST_NUMBER_SIZE];
	if (run->signal)
		fprintf(out, "  killed by signal %" PRId64 " (%s)%s", run->signal,
		        sigdescr_np((int)run->signal) ? sigdescr_np((int)run->signal) : "unknown",
		        p->processes.n && p->processes.v[st_profile_last_program(p)].core_dumped
		                ? ", core dumped"
		                : "");
	else if (run->exit >= 0)
		fprintf(out, "  exited with %" PRId64, run->exit);
	else /* attached, and its end was not seen */
		fprintf(out, "  %s",
		        p->processes.n ? st_profile_state_name(p->processes.v[0].state) : "ended");
	/* wait4 adds the children that were waited for, measured or not. */
	const bool children = run->signal || run->exit >= 0;
	fprintf(out, " after %s, CPU %s%s", st_duration(wall, run->wall_ns),
	        st_duration(cpu, run->cpu_user_ns + run->cpu_system_ns),
	        children ? " (with children)" : "");
	print_slowdown(out, &run->slowdown);
	summary_print_processes(out, p);
	if (run->native_ns)
		fprintf(out, "  %.1f %% of the CPU time under the engine, the rest native\n",
		        100 * st_profile_cache_share(p));
}

/* "blocks executed" says no more than "blocks". */
static bool
says_more(const struct st_profile_counter *c)
{
	return *c->help && strncmp(c->help, c->name, strlen(c->name));
}

/* A counter's name is a plural, such as "blocks": "1 block". Words such as "misses" stay. */
static void
print_counter_name(FILE *out, const char *name, uint64_t total)
{
	const size_t n = strlen(name);
	const bool cut = total == 1 && n > 2 && name[n - 1] == 's' && !strchr("es", name[n - 2]);
	char *one = cut ? strndup(name, n - 1) : NULL;
	print_printable(out, one ? one : name);
	free(one);
}

static void
print_counters(FILE *out, const struct st_profile *p)
{
	for (size_t i = 0; i < p->counters.n && p->counters.v[i].process == 0; i++) {
		char number[ST_NUMBER_SIZE];
		uint64_t total;
		st_profile_counter(p, p->counters.v[i].name, &total);
		fprintf(out, "  %s ", st_number(number, total));
		print_counter_name(out, p->counters.v[i].name, total);
		if (says_more(&p->counters.v[i])) {
			fputs(" (", out);
			print_printable(out, p->counters.v[i].help);
			putc(')', out);
		}
		putc('\n', out);
	}
}

static void
print_samples(FILE *out, const struct st_profile *p)
{
	const struct st_profile_run *run = &p->run;
	uint64_t all = run->samples_code + run->samples_kernel + run->samples_engine;
	if (!all)
		return;
	fprintf(out, "  %s%s: %.1f %% in the program, %.1f %% in the kernel, %.1f %% in strobe\n",
	        ST_COUNT(all, "sample", "samples"),
	        st_profile_statistic(p, "by_event") ? " (by perf events)" : "",
	        100.0 * (double)run->samples_code / (double)all,
	        100.0 * (double)run->samples_kernel / (double)all,
	        100.0 * (double)run->samples_engine / (double)all);
}

/* Returns whether another tool has measured. Its files do not say how the program ended or how
 * often code ran; some say when it ran and for how long. */
static bool
is_imported(const struct st_profile *p)
{
	return !p->run.tsc_hz;
}

/* Of all threads together: their times on the CPU and waiting may be longer than the run. Samples
 * tell the time on the CPU, so threads that used little of it may have none. */
static void
summary_print_waits(FILE *out, const struct st_profile *p)
{
	char on_cpu[ST_NUMBER_SIZE], waiting[ST_NUMBER_SIZE];
	if (!st_profile_has_waits(p))
		return;
	if (!p->run.on_cpu_ns) {
		fprintf(out,
		        "  wall time of %s: %s waiting; the time on the CPU is unknown, because no "
		        "sample was in the program: it used too little CPU time, or --sample-hz "
		        "was 0\n",
		        ST_COUNT(p->threads.n, "thread", "threads"),
		        st_duration(waiting, (int64_t)p->run.waiting_ns));
		return;
	}
	fprintf(out, "  wall time of %s: %s on the CPU, %s waiting\n",
	        ST_COUNT(p->threads.n, "thread", "threads"),
	        st_duration(on_cpu, (int64_t)p->run.on_cpu_ns),
	        st_duration(waiting, (int64_t)p->run.waiting_ns));
}

static void
count_or_dash(struct st_table *t, const struct st_profile *p, uint64_t value)
{
	if (!value && is_imported(p))
		st_table_cell(t, "-");
	else
		st_table_count(t, value);
}

static void
summary_print_functions(const struct st_report *r, FILE *out)
{
	const struct st_profile *p = r->profile;
	static const struct st_table_column columns[] = {
	        {"self %", false}, {"total %", false},      {"samples", false}, {"calls", false},
	        {"blocks", false}, {"instructions", false}, {"function", true}};
	static const struct st_table_column with_waits[] = {
	        {"self %", false},       {"total %", false},       {"samples", false},
	        {"self waiting", false}, {"total waiting", false}, {"calls", false},
	        {"blocks", false},       {"instructions", false},  {"function", true}};
	const bool waits = st_profile_has_waits(p);
	size_t n, shown;
	uint32_t *order = st_report_order(r, &n);
	struct st_table *t = st_table_new(waits ? with_waits : columns,
	                                  sizeof columns / sizeof *columns + (waits ? 2 : 0));
	shown = r->top && r->top < n ? r->top : n;
	for (size_t i = 0; order && i < shown; i++) {
		const struct st_profile_function *f = &p->functions.v[order[i]];
		char number[ST_NUMBER_SIZE];
		st_table_cell(t, "%.2f", 100 * st_profile_self_share(p, f));
		double total = st_profile_total_share(p, f);
		if (total >= 0)
			st_table_cell(t, "%.2f", 100 * total);
		else
			st_table_cell(t, "-");
		count_or_dash(t, p, f->samples);
		if (waits) {
			st_table_cell(t, "%s", st_duration(number, (int64_t)f->self_waiting_ns));
			st_table_cell(t, "%s", st_duration(number, (int64_t)f->waiting_ns));
		}
		if (f->calls_exact || !is_imported(p))
			st_table_cell(t, "%s%s",
			              f->calls_exact ? "" : "<=", st_number(number, f->calls));
		else
			st_table_cell(t, "-");
		count_or_dash(t, p, f->executions);
		count_or_dash(t, p, f->instructions);
		st_table_function(t, p, order[i]);
	}
	putc('\n', out);
	st_table_print(t, out, r->style);
	if (shown < n)
		fprintf(out, "  ... and %s (--top)\n",
		        ST_COUNT(n - shown, "more function", "more functions"));
	st_table_free(t);
	free(order);
}

static void
print_streams(FILE *out, const struct st_profile *p)
{
	for (size_t i = 0; i < p->streams.n; i++) {
		const struct st_profile_stream *s = &p->streams.v[i];
		char dropped[ST_NUMBER_SIZE];
		const double worth_telling = 1e5; /* rows per second */
		double seconds = (double)p->run.wall_ns / 1e9;
		double rate = seconds > 0 ? (double)s->rows / seconds : 0;
		fprintf(out, "\n  %s of ", ST_COUNT(s->rows, "row", "rows"));
		print_printable(out, s->name);
		fprintf(out, " in %s", ST_COUNT(s->bytes, "byte", "bytes"));
		if (s->rows)
			fprintf(out, ": %.2f bytes each", (double)s->bytes / (double)s->rows);
		if (rate >= worth_telling)
			fprintf(out, ", %.1f million rows per second", rate / 1e6);
		if (s->dropped)
			fprintf(out, "; %s dropped", st_number(dropped, s->dropped));
		if (s->file) {
			fputs("\n  rows:   ", out);
			print_printable(out, s->file);
		}
		putc('\n', out);
	}
}

static void
summary_print_notes(FILE *out, const struct st_profile *p)
{
	if (p->fallbacks.n || p->notes.n)
		putc('\n', out);
	for (size_t i = 0; i < p->fallbacks.n; i++) {
		const struct st_profile_fallback *f = &p->fallbacks.v[i];
		fprintf(out, "  native: %s, %s, at ", st_profile_cause_name(f->cause),
		        ST_COUNT(f->count, "time", "times"));
		if (f->image != UINT32_MAX)
			print_printable(out, st_base_name(p->images.v[f->image].path));
		else
			fputs("address", out);
		fprintf(out, " 0x%" PRIx64 "\n", f->offset);
	}
	for (size_t i = 0; i < p->notes.n; i++) {
		fputs("  note: ", out);
		print_printable(out, p->notes.v[i]);
		putc('\n', out);
	}
}

/* The functions that allocate most, for the tool alloc; strobe mem prints its own summary. */
static void
summary_print_allocations(const struct st_report *r, FILE *out)
{
	const char *tool = st_mem_tool(r->profile);
	struct st_mem m;
	struct st_error e;
	if (!tool || !strcmp(tool, ST_MEM_TOOL))
		return;
	if (st_mem_read(&m, r->profile, &e) || st_mem_tree_text(&m, true, r->top, out, &e))
		fprintf(out, "\n  note: %s\n", e.text);
	st_mem_free(&m);
}

void
st_report_summary(const struct st_report *r, FILE *out)
{
	const struct st_profile *p = r->profile;
	summary_print_command(out, &p->run, r->style.width);
	if (!p->measurements.series.n &&
	    !is_imported(p)) /* whose table says how long the program ran */
		(p->chosen_of ? summary_print_chosen : summary_print_end)(out, p);
	print_counters(out, p);
	print_samples(out, p);
	summary_print_waits(out, p);
	st_budget_print(out, p);
	st_qos_print(out, p);
	if (p->run.has_functions && p->functions.n)
		summary_print_functions(r, out);
	if (!r->no_tables)
		summary_print_allocations(r, out);
	if (!r->no_tables)
		st_report_tables(r, out);
	st_report_measurements(r, out);
	st_report_kept(r, out);
	print_streams(out, p);
	summary_print_notes(out, p);
}

/* As a word that a shell takes back. */
static void
print_word(FILE *out, const char *text)
{
	char *clean = st_printable(text);
	st_shell_quote(out, clean ? clean : "");
	free(clean);
}

static bool
needs_quotes(const char *path)
{
	return !*path || strpbrk(path, " \t\"'\\`$&|;<>()[]{}*?!#~") != NULL;
}

static void
print_path(FILE *out, const char *path)
{
	if (needs_quotes(path))
		print_word(out, path);
	else
		print_printable(out, path);
}

void
st_report_next(const struct st_report *r, FILE *out, const char *path)
{
	const struct st_profile *p = r->profile;
	if (!path)
		return;
	fputs("\n  result: ", out);
	print_printable(out, path);
	fputs("\n  next:   strobe show ", out);
	print_path(out, path);
	size_t n;
	uint32_t *order = p->run.has_functions && p->functions.n ? st_report_order(r, &n) : NULL;
	if (order && p->functions.v[order[0]].size) {
		fputs(" --func ", out);
		print_word(out, p->functions.v[order[0]].name);
	}
	free(order);
	if (p->lines.n) {
		fputs("\n          strobe show ", out);
		print_path(out, path);
		fputs(" --table lines", out);
	}
	fputs("\n          strobe report ", out);
	print_path(out, path);
	putc('\n', out);
}
