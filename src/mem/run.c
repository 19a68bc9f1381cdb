/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/wait.h>

#include "collect/collect.h"
#include "control/run.h"
#include "mem/images.h"
#include "mem/results.h"

static double
seconds_of_usage(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static int
code_of_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct st_profile *
empty_profile(const struct st_mem_request *r, const struct st_probing *process, struct st_error *e)
{
	static const char *const tools[] = {ST_MEM_TOOL};
	const struct st_run run = {.seconds = process->seconds,
	                           .cpu_user = seconds_of_usage(process->usage.ru_utime),
	                           .cpu_system = seconds_of_usage(process->usage.ru_stime),
	                           .tsc_hz = process->tsc_hz,
	                           .exit_code = code_of_status(process->status)};
	const struct st_profile_origin origin = {.tool = ST_MEM_TOOL,
	                                         .argv = r->program,
	                                         .options = r->given,
	                                         .start_ns = process->start_ns,
	                                         .tools = tools,
	                                         .n_tools = 1};
	struct st_profile *p = st_profile_collect(&run, &origin, e);
	if (p)
		p->run.signal = WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0;
	return p;
}

/* Functions that could not be watched: what they allocate is missing. */
static void
note_refused(const struct st_probes *probes, struct st_profile *p)
{
	for (size_t i = 0; i < probes->refused.n; i++) {
		const struct st_probed_function *f = &probes->refused.v[i];
		st_profile_note(p, "%s of %s is not counted: %s", f->name,
		                probes->images.v[f->image].path, f->refused);
	}
}

/* An operator new that does not call malloc is not seen. */
static void
note_own_new(const struct st_probes *probes, struct st_profile *p)
{
	for (size_t i = 0; i < probes->images.n; i++) {
		struct st_image *image = probes->images.v[i].image;
		if (image && st_image_defines(image, "malloc") &&
		    st_image_defines(image, "_Znwm") &&
		    !st_image_defines(image, "__libc_start_main"))
			st_profile_note(p,
			                "%s has an operator new of its own; memory that it takes "
			                "without calling malloc is not counted; strobe run -t "
			                "alloc counts it",
			                probes->images.v[i].path);
	}
}

static st_status
make_mem_profile(const struct st_mem_request *r, const struct st_probes *probes,
                 const struct st_mem_watch *watch, struct st_profile **out, struct st_error *e)
{
	struct st_mem m;
	struct st_profile *p = empty_profile(r, &probes->process, e);
	if (!p)
		return ST_FAILED;
	st_status status = st_mem_of_area(&m, probes, watch);
	if (!status)
		status = st_mem_put(&m, p);
	st_mem_free(&m);
	note_refused(probes, p);
	note_own_new(probes, p);
	if (probes->process.executed)
		st_profile_note(p,
		                "the process executed another program, %s, which is not measured: "
		                "name that program itself, or use strobe run -t alloc",
		                probes->process.executed);
	if (!status) {
		*out = p;
		return ST_OK;
	}
	st_profile_free(p);
	return st_fail(e, ST_EXIT_FAILED, "no memory left to keep what was allocated");
}

/* After the program's end. */
static st_status
finish_mem(const struct st_mem_request *r, const struct st_mem_images *images,
           const struct st_mem_watch *watch, struct st_profile **out, struct st_error *e)
{
	const struct st_probes *probes = images->probes;
	if (images->out_of_memory)
		return st_fail(e, ST_EXIT_FAILED, "out of memory");
	if (!images->n_found)
		return st_fail(e, ST_EXIT_FAILED,
		               "nothing was counted, because no file of '%s' has a function "
		               "malloc, free or mmap that is known by name: use the program with "
		               "its symbols",
		               r->program[0]);
	return make_mem_profile(r, probes, watch, out, e);
}

st_status
st_mem_run(const struct st_mem_request *r, struct st_profile **profile, uint32_t *pid,
           int *exit_code, struct st_error *e)
{
	struct st_probes probes = {
	        .choose = st_mem_choose,
	        .mapped = st_mem_mapped,
	        .wanted = st_mem_wanted,
	        .process = {.untimed = true, .whole = true, .tells_executed = true}};
	struct st_mem_images images = {.probes = &probes};
	struct st_mem_watch watch = {.interval_ns = r->interval_ns};
	probes.arg = &images;
	st_status status = st_probes_start(&probes, r->program, r->own_group, e);
	if (!status) {
		watch.area = st_mem_area(&probes);
		/* Without a thread for them there are no snapshots but the last. */
		(void)!st_mem_watch_begin(&watch);
		status = st_probes_wait(&probes, 0, e);
		st_mem_watch_end(&watch, true);
	}
	if (!status) {
		*pid = (uint32_t)probes.process.pid;
		*exit_code = code_of_status(probes.process.status);
		status = finish_mem(r, &images, &watch, profile, e);
	}
	st_mem_watch_free(&watch);
	st_probes_free(&probes);
	st_mem_images_free(&images);
	return status;
}
