/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * st_run_program without an engine: the name of the program chooses what comes of it. The commands
 * are tested with it as they are, from their arguments to their exit codes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/run.h"
#include "fake.h"
#include "rowsource.h"
#include "wire/plan.h"

static struct fake *results;

static struct fake *
count_only(const char *tool)
{
	static const char *const none[] = {NULL}, *const one[] = {"instructions", NULL};
	static const char *const two[] = {"blocks", "instructions", NULL};
	struct fake *f = fake_new(!strcmp(tool, "null")      ? none
	                          : !strcmp(tool, "bbcount") ? two
	                                                     : one);
	uint32_t map =
	        fake_map(f, fixture_path(), FIXTURE_BASE + 0x1000, FIXTURE_BASE + 0x2000, 0x1000);
	uint32_t block = fake_block(f, map, fixture_address("spin", 0), 10, 4, ST_END_BRANCH, 0);
	fake_count(f, 0, block, 1000000);
	fake_partial(f, block, 3);
	return f;
}

static struct st_process *
add_process(struct st_run *run, struct fake *f, uint32_t pid, uint32_t ppid, const char *command)
{
	run->processes = realloc(run->processes, (run->n_processes + 1) * sizeof *run->processes);
	run->processes[run->n_processes] = fake_process(f, pid, ppid, command);
	return &run->processes[run->n_processes++];
}

/* Two rows of a stream. */
static void
make_rows(const struct st_row_sink *sink)
{
	struct st_results_header *h = row_source_new(4711);
	row_source_stream(h);
	uint32_t site = row_source_site(h, fixture_address("spin", 2), "read");
	uint64_t *at = row_source_chunk(h, 0);
	uint64_t *end = row_source_row(row_source_row(at, site, 0xabc, 7), site, 0xabd, 8);
	struct st_row_chunk chunk = {.rows = at, .bytes = (size_t)((char *)end - (char *)at)};
	sink->begin(sink->arg, h, h->layout.file_size);
	sink->take(sink->arg, h, &chunk);
	sink->end(sink->arg, h);
	row_source_free(h);
}

int
st_run_program(const struct st_run_options *options, struct st_run *run, struct st_error *e)
{
	const char *program = options->argv[0];
	*run = (struct st_run){.seconds = 1.25, .cpu_user = 1, .cpu_system = 0.25, .tsc_hz = 1e9};
	if (!strcmp(program, "missing"))
		return st_fail(e, ST_EXIT_NOT_FOUND, "no program '%s' in PATH", program);
	if (options->stress != 0 && options->stress != (ST_STRESS_cache | ST_STRESS_links))
		return st_fail(e, ST_EXIT_FAILED, "stress modes came out wrong");
	results = strcmp(options->tools[0].name, "hot") ? count_only(options->tools[0].name)
	                                                : fixture_results();
	if (!strcmp(program, "tables"))
		fixture_tables(results);
	if (!strcmp(program, "rows"))
		make_rows(options->rows);
	if (!options->sample_hz)
		fake_header(results)->samples.n = 0;
	struct st_process *p = add_process(run, results, 4711, 1, program);
	if (write(STDOUT_FILENO, "output of the program\n", 22) != 22)
		return st_fail(e, ST_EXIT_FAILED, "cannot write");
	if (options->progress) {
		options->progress(options->progress_arg, run->processes, 1,
		                  0.1); /* too early to show */
		options->progress(options->progress_arg, run->processes, 1, 2.0);
	}
	if (!strcmp(program, "crashing")) {
		p->exited = false;
		p->signal = SIGSEGV;
		p->core_dumped = true;
		run->exit_code = 128 + SIGSEGV;
	} else if (!strcmp(program, "failing")) {
		p->exit_code = run->exit_code = 7;
	}
	if (options->follow)
		add_process(run, results, 4712, 4711, "child");
	return 0;
}

void
st_run_free(struct st_run *run)
{
	free(run->processes);
	fake_free(results);
}

int
st_attach_process(pid_t pid, double seconds, const struct st_run_options *options,
                  struct st_run *run, struct st_error *e)
{
	(void)options;
	(void)run;
	return st_fail(e, ST_EXIT_FAILED, "process %d for %g seconds", (int)pid, seconds);
}
