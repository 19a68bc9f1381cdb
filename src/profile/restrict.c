/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/restrict.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/waits.h"

static st_status
restrict_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to choose from the profile");
}

/* ---- processes ---- */

/* Clears the counts of functions, images and the run, before those of the chosen processes are
 * added up. */
static void
restrict_clear(struct st_profile *p)
{
	struct st_profile_run *r = &p->run;
	for (size_t i = 0; i < p->functions.n; i++) {
		struct st_profile_function *f = &p->functions.v[i];
		f->calls = f->executions = f->instructions = f->samples = f->samples_total = 0;
		f->samples_kernel = f->samples_engine = f->waiting_ns = f->self_waiting_ns = 0;
		f->calls_exact = true;
	}
	for (size_t i = 0; i < p->images.n; i++)
		p->images.v[i].executions = p->images.v[i].instructions = p->images.v[i].samples =
		        0;
	r->samples_code = r->samples_kernel = r->samples_engine = r->stacks = r->stacks_cut = 0;
	r->on_cpu_ns = r->waiting_ns = 0;
}

static void
restrict_add_share(struct st_profile *p, const struct st_profile_share *s)
{
	if (s->function >= p->functions.n) {
		p->run.samples_code += s->samples;
		p->run.samples_kernel += s->samples_kernel;
		p->run.samples_engine += s->samples_engine;
		p->run.stacks += s->samples_total;
		return;
	}
	struct st_profile_function *f = &p->functions.v[s->function];
	struct st_profile_image *image = &p->images.v[f->image];
	f->calls += s->calls;
	f->calls_exact &= s->calls_exact;
	f->executions += s->executions;
	f->instructions += s->instructions;
	f->samples += s->samples;
	f->samples_total += s->samples_total;
	f->samples_kernel += s->samples_kernel;
	f->samples_engine += s->samples_engine;
	image->executions += s->executions;
	image->instructions += s->instructions;
	image->samples += s->samples;
}

/* Keeps the rows of chosen processes in the lists of which each row belongs to one. */
static void
restrict_lists(struct st_profile *p, const uint32_t *numbers, size_t n)
{
	ST_RESTRICT_ROWS(p, counters, process, numbers, n);
	ST_RESTRICT_ROWS(p, statistics, process, numbers, n);
	ST_RESTRICT_ROWS(p, fallbacks, process, numbers, n);
	ST_RESTRICT_ROWS(p, overshoots, process, numbers, n);
}

/* Keeps the threads of chosen processes, and their contexts. */
static st_status
restrict_threads(struct st_profile *p, const uint32_t *numbers)
{
	bool *kept = calloc(p->contexts.n + 1, sizeof *kept);
	uint32_t *threads = calloc(p->threads.n + 1, sizeof *threads), n = 0;
	st_status status = kept && threads ? ST_OK : ST_FAILED;
	for (size_t i = 0; !status && i < p->threads.n; i++) {
		struct st_profile_thread t = p->threads.v[i];
		t.process = numbers[t.process];
		t.on_cpu_ns = t.waiting_ns = 0; /* added up again */
		threads[i] = t.process == UINT32_MAX ? UINT32_MAX : n;
		if (t.process != UINT32_MAX)
			p->threads.v[n++] = t;
	}
	for (size_t i = 0; !status && i < p->contexts.n; i++)
		kept[i] = threads[p->contexts.v[i].thread] != UINT32_MAX;
	for (size_t i = 0; !status && i < p->contexts.n; i++)
		if (kept[i])
			p->contexts.v[i].thread = threads[p->contexts.v[i].thread];
	if (!status) {
		p->threads.n = n;
		status = st_restrict_contexts(p, kept);
	}
	free(kept);
	free(threads);
	return status;
}

static void
restrict_drop_joined(struct st_profile *p)
{
	if (p->tables.n)
		st_profile_note(p, "the tables of tools have counts of all processes together, and "
		                   "are left out");
	for (size_t i = 0; i < p->tables.n; i++)
		free(p->tables.v[i].values.v);
	p->tables.n = p->blocks.n = p->lines.n = 0;
}

static void
restrict_add_shares(struct st_profile *p, const bool *chosen)
{
	if (!p->run.has_functions)
		return;
	restrict_clear(p);
	for (size_t i = 0; i < p->shares.n; i++)
		if (chosen[p->shares.v[i].process])
			restrict_add_share(p, &p->shares.v[i]);
	p->shares.n = 0; /* they have the processes' old numbers */
}

/* Gives the chosen processes new numbers. malloc'ed; NULL: no memory. */
static uint32_t *
restrict_number_processes(struct st_profile *p, const bool *chosen)
{
	uint32_t *numbers = calloc(p->processes.n + 1, sizeof *numbers), n = 0;
	for (size_t i = 0; numbers && i < p->processes.n; i++) {
		numbers[i] = chosen[i] ? n : UINT32_MAX;
		if (chosen[i])
			p->processes.v[n++] = p->processes.v[i];
	}
	if (numbers)
		p->processes.n = n;
	return numbers;
}

st_status
st_profile_restrict_processes(struct st_profile *p, const bool *chosen, struct st_error *e)
{
	const size_t all = p->processes.n, processes = st_profile_count_processes(p);
	if (all < 2)
		return ST_OK;
	if (p->run.has_functions && !p->shares.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "the profile has counts of all processes together only, because an "
		               "older strobe wrote it: run the program again");
	restrict_add_shares(p, chosen);
	restrict_drop_joined(p);
	uint32_t *numbers = restrict_number_processes(p, chosen);
	st_status status = numbers ? restrict_threads(p, numbers) : ST_FAILED;
	if (!status)
		restrict_lists(p, numbers, all);
	free(numbers);
	p->chosen_of = all;
	p->chosen_of_processes = processes;
	if (status || st_profile_add_up_waits(p) || st_restrict_functions(p))
		return restrict_no_memory(e);
	return ST_OK;
}

/* ---- the dynamic linker ---- */

static bool
restrict_is_loader(const char *path)
{
	static const char *const names[] = {"ld-linux", "ld-musl", "ld.so", "ld-2.", "ld64.so"};
	const char *name = st_base_name(path);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void
restrict_take(uint64_t *from, uint64_t amount)
{
	*from -= amount < *from ? amount : *from;
}

/* Subtracts a context that is left out from the totals of the functions on its stack, once from
 * each. seen: by function, 1 + the last context that was subtracted from it. */
static void
restrict_take_context(struct st_profile *p, size_t context, uint64_t *seen)
{
	const struct st_profile_context *c = &p->contexts.v[context];
	const uint32_t self = p->labels.v[c->label].function;
	restrict_take(&p->run.samples_code, c->count);
	restrict_take(&p->run.stacks, c->count);
	if (self < p->functions.n) {
		restrict_take(&p->functions.v[self].samples, c->count);
		restrict_take(&p->images.v[p->functions.v[self].image].samples, c->count);
	}
	for (uint32_t i = (uint32_t)context; i != UINT32_MAX; i = p->contexts.v[i].parent) {
		const uint32_t f = p->labels.v[p->contexts.v[i].label].function;
		if (f >= p->functions.n || seen[f] == context + 1)
			continue;
		seen[f] = context + 1;
		restrict_take(&p->functions.v[f].samples_total, c->count);
	}
}

/* Where the stack of a context begins; nowhere: the stack has only callers that could not be found.
 */
enum restrict_begin { RESTRICT_NOWHERE, RESTRICT_LOADER, RESTRICT_PROGRAM };

static enum restrict_begin
restrict_begin_of(const struct st_profile *p, const bool *loader, const unsigned char *begins,
                  const struct st_profile_context *c)
{
	const uint32_t image = p->labels.v[c->label].image;
	if (c->parent != UINT32_MAX && begins[c->parent] != RESTRICT_NOWHERE)
		return begins[c->parent];
	if (image >= p->images.n)
		return RESTRICT_NOWHERE;
	return loader[image] ? RESTRICT_LOADER : RESTRICT_PROGRAM;
}

/* Leaves out unknown callers that have no samples and no context left. Children come after their
 * parents. */
static void
restrict_empty_callers(const struct st_profile *p, unsigned char *begins, bool *kept)
{
	for (size_t i = p->contexts.n; i-- > 0;) {
		const struct st_profile_context *c = &p->contexts.v[i];
		if (begins[i] == RESTRICT_NOWHERE && !c->count && !c->self_ns)
			kept[i] = false;
		else if (kept[i] && c->parent != UINT32_MAX &&
		         begins[c->parent] == RESTRICT_NOWHERE)
			begins[c->parent] = RESTRICT_PROGRAM;
	}
}

/* Keeps the contexts that do not begin in the linker, and subtracts the others from the totals. */
static st_status
restrict_loader_contexts(struct st_profile *p, const bool *loader)
{
	unsigned char *begins = calloc(p->contexts.n + 1, sizeof *begins);
	bool *kept = calloc(p->contexts.n + 1, sizeof *kept);
	uint64_t *seen = calloc(p->functions.n + 1, sizeof *seen);
	st_status status = begins && kept && seen ? ST_OK : ST_FAILED;
	for (size_t i = 0; !status && i < p->contexts.n; i++) {
		begins[i] = (unsigned char)restrict_begin_of(p, loader, begins, &p->contexts.v[i]);
		kept[i] = begins[i] != RESTRICT_LOADER;
		if (!kept[i])
			restrict_take_context(p, i, seen);
	}
	if (!status)
		restrict_empty_callers(p, begins, kept);
	if (!status)
		status = st_restrict_contexts(p, kept);
	free(begins);
	free(kept);
	free(seen);
	return status;
}

/* Clears the counts of the linker's functions, unless a stack that is kept has them. */
static st_status
restrict_loader_functions(struct st_profile *p, const bool *loader)
{
	bool *kept = calloc(p->functions.n + 1, sizeof *kept);
	if (!kept)
		return ST_FAILED;
	for (size_t i = 0; i < p->contexts.n; i++) {
		const uint32_t f = p->labels.v[p->contexts.v[i].label].function;
		if (f < p->functions.n)
			kept[f] = true;
	}
	for (size_t i = 0; i < p->functions.n; i++) {
		struct st_profile_function *f = &p->functions.v[i];
		struct st_profile_image *image = &p->images.v[f->image];
		if (kept[i] || !loader[f->image])
			continue;
		restrict_take(&p->run.samples_code, f->samples);
		restrict_take(&p->run.samples_kernel, f->samples_kernel);
		restrict_take(&p->run.samples_engine, f->samples_engine);
		restrict_take(&image->samples, f->samples);
		restrict_take(&image->executions, f->executions);
		restrict_take(&image->instructions, f->instructions);
		f->calls = f->executions = f->instructions = f->samples = f->samples_total = 0;
		f->samples_kernel = f->samples_engine = f->waiting_ns = f->self_waiting_ns = 0;
	}
	free(kept);
	return ST_OK;
}

/* Adds up the times of threads and functions from the contexts that are kept. */
static st_status
restrict_waits_again(struct st_profile *p)
{
	p->run.on_cpu_ns = p->run.waiting_ns = 0;
	for (size_t i = 0; i < p->threads.n; i++)
		p->threads.v[i].on_cpu_ns = p->threads.v[i].waiting_ns = 0;
	for (size_t i = 0; i < p->functions.n; i++)
		p->functions.v[i].waiting_ns = p->functions.v[i].self_waiting_ns = 0;
	return st_profile_add_up_waits(p);
}

st_status
st_profile_restrict_loader(struct st_profile *p, struct st_error *e)
{
	if (!p->run.has_functions || st_profile_has_tool(p, "contexts"))
		return st_fail(e, ST_EXIT_USAGE,
		               "--hide-loader chooses from functions and sampled stacks, which "
		               "strobe run -t hot measures: for other tools, measure with "
		               "--start-at main");
	bool *loader = calloc(p->images.n + 1, sizeof *loader);
	st_status status = loader ? ST_OK : ST_FAILED;
	for (size_t i = 0; !status && i < p->images.n; i++)
		loader[i] = restrict_is_loader(p->images.v[i].path);
	status = status || restrict_loader_contexts(p, loader) ||
	                         restrict_loader_functions(p, loader) || restrict_waits_again(p) ||
	                         st_restrict_functions(p)
	                 ? restrict_no_memory(e)
	                 : ST_OK;
	free(loader);
	if (!status)
		st_profile_note(p, "the dynamic linker is left out: its functions, and the stacks "
		                   "that begin in it; counters are not changed");
	return status;
}
