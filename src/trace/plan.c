/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/plan.h"

#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "trace/choose.h"
#include "trace/files.h"

struct planning {
	struct st_trace_plan *plan;
	struct st_trace_chooser *chooser;
};

/* The function of --main is traced, whether it is chosen or not. */
static bool
is_of_scope(const struct st_trace_request *r, const struct st_function *f)
{
	const size_t n = strlen(r->main);
	return n && f->whole == f->offset && f->source != ST_SYM_PLT &&
	       !strncmp(f->name, r->main, n) && (!f->name[n] || f->name[n] == '(');
}

static bool
is_planned(const struct planning *p, struct st_image *image, const char *path,
           const struct st_function *f)
{
	const bool chosen = st_trace_chosen(p->chooser, image, path, f);
	return chosen || is_of_scope(p->plan->request, f);
}

static bool
has_opened(const struct st_region *region, const char *path)
{
	for (size_t i = 0; i < region->n_opened; i++)
		if (!strcmp(region->opened[i].path, path))
			return true;
	return false;
}

static void
plan_file(void *arg, const char *path)
{
	const struct planning *p = arg;
	struct st_region *region = &p->plan->request->session->region;
	size_t n = 0;
	if (has_opened(region, path))
		return;
	struct st_image *image = st_region_image(region, path);
	const struct st_function *f = image ? st_image_functions(image, &n) : NULL;
	for (size_t i = 0; f && i < n; i++) {
		struct st_line line = {0};
		if (!is_planned(p, image, path, &f[i]))
			continue;
		struct st_planned_function *new = ST_PUSH(&p->plan->functions);
		if (!new) {
			p->plan->no_memory = true;
			return;
		}
		ST_IGNORE(st_image_function_line(image, f[i].offset, &line));
		*new = (struct st_planned_function){f[i].name,
		                                    region->opened[region->n_opened - 1].path,
		                                    f[i].offset, line.file, line.line};
	}
}

st_status
st_trace_plan_make(struct st_trace_plan *plan, const struct st_trace_request *r,
                   const char *program, struct st_error *e)
{
	*plan = (struct st_trace_plan){.request = r};
	struct planning p = {plan, st_trace_chooser_new(r)};
	const uint32_t pid = (uint32_t)r->session->pid;
	bool done = true;
	if (!p.chooser)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (pid)
		done = st_trace_files_of_process((pid_t)pid, plan_file, &p);
	else
		st_trace_files_of_program(program, plan_file, &p);
	st_trace_chooser_free(p.chooser);
	if (plan->no_memory)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	return done ? ST_OK
	            : st_fail(e, ST_EXIT_FAILED, "cannot read which files process %u executes",
	                      pid);
}

void
st_trace_plan_free(struct st_trace_plan *plan)
{
	free(plan->functions.v);
}
