/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a program under probes and reports why nothing was recorded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "profile/output.h"
#include "recording/engine.h"
#include "recording/save.h"
#include "recording/silence.h"
#include "recording/targets.h"

static const char *const names[] = {
#define M(id, name, unit, what) name,
        ST_RECORD_METRICS(M)
#undef M
};

static st_status
add_metric_named(const char *word, size_t n, uint32_t *metrics, struct st_error *e)
{
	char all[512] = "";
	for (unsigned i = 0; i < ST_RECORD_METRIC_COUNT; i++) {
		if (strlen(names[i]) == n && !memcmp(names[i], word, n)) {
			*metrics |= 1u << i;
			return ST_OK;
		}
		st_append(all, sizeof all, "%s%s", i ? ", " : "", names[i]);
	}
	if (n == strlen("callees") && !memcmp(word, "callees", n)) {
		*metrics |= ST_RECORD_CALLEES;
		return ST_OK;
	}
	for (size_t i = 0; i < ST_ENGINE_METRICS; i++) {
		const struct st_engine_metric *m = &st_engine_metrics[i];
		if (strlen(m->name) == n && !memcmp(m->name, word, n)) {
			*metrics |= m->bit;
			return ST_OK;
		}
		st_append(all, sizeof all, ", %s", m->name);
	}
	return st_fail(e, ST_EXIT_USAGE, "--metrics takes a list of %s, callees, not '%.*s'", all,
	               (int)n, word);
}

st_status
st_recording_metrics(const char *list, uint32_t *metrics, struct st_error *e)
{
	*metrics = 0;
	for (const char *p = list;; p++) {
		const size_t n = strcspn(p, ",");
		if (add_metric_named(p, n, metrics, e))
			return ST_FAILED;
		p += n;
		if (!*p)
			break;
	}
	if (!(*metrics & ~ST_RECORD_CALLEES))
		*metrics |= 1u << ST_RECORD_TIME;
	return ST_OK;
}

static struct st_program_end
end_of_program(int status)
{
	const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return (struct st_program_end){signal ? 128 + signal : WEXITSTATUS(status), signal};
}

/* ---- nothing was recorded ---- */

/* Says why no function matches a pattern. */
static st_status
complain_of_pattern(const struct st_recording_targets *t, const char *pattern, struct st_error *e)
{
	struct st_inlined_note note = {0};
	for (size_t i = 0; i < t->probes->images.n; i++)
		st_inlined_note_take(&note, t->probes->images.v[i].image, pattern);
	return st_targets_missing(&note, t->request->program[0], pattern, e);
}

/* The first function that could not be probed; NULL: all could. */
static const struct st_recorded *
first_refused(const struct st_recording_targets *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		if (st_recorded_refusal(t->probes, &t->list.v[i]))
			return &t->list.v[i];
	return NULL;
}

static bool
is_matched(const struct st_recording *r, size_t pattern)
{
	for (size_t i = 0; i < r->processes.n; i++)
		if (r->processes.v[i]->matched[pattern])
			return true;
	return false;
}

/* The process whose functions the message is about: the first one that has some. */
static const struct st_recording_targets *
silent_process(const struct st_recording *r)
{
	for (size_t i = 0; i < r->processes.n; i++)
		if (r->processes.v[i]->list.n)
			return r->processes.v[i];
	return r->processes.v[0];
}

static st_status
complain_of_silence(const struct st_recording *all, FILE *out, struct st_error *e)
{
	const struct st_recording_targets *t = silent_process(all);
	const struct st_patterns *patterns = t->request->functions;
	const struct st_recorded *refused = first_refused(t);
	uint64_t calls = 0;
	for (size_t i = 0; i < patterns->n; i++)
		if (!is_matched(all, i))
			return complain_of_pattern(t, patterns->text[i], e);
	for (size_t i = 0; i < t->list.n; i++) {
		const struct st_record_function *r = st_recorded_function(t->probes, &t->list.v[i]);
		calls += r ? r->calls : 0;
	}
	if (!t->list.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "nothing was recorded, because '%s' has no functions with "
		               "names: use a program with symbols",
		               t->request->program[0]);
	if (t->probes->process.area->sandboxed)
		return st_fail(e, ST_EXIT_FAILED,
		               "nothing was recorded, because the seccomp filter of the program "
		               "forbade the system calls of the recording before the chosen "
		               "functions returned");
	if (!calls && refused)
		return st_fail(e, ST_EXIT_FAILED,
		               "nothing was recorded, because %s could not be probed: %s",
		               refused->table.name, st_recorded_refusal(t->probes, refused));
	struct st_silence silence = {
	        .function = t->list.v[0].table.name, .functions = t->list.n, .calls = calls};
	if (!t->request->pid)
		silence.end = end_of_program(all->probes->process.status);
	return st_silence_explain(t->request, &silence, out, e);
}

/* ---- the run ---- */

static st_status
write_records(const void *arg, FILE *out, struct st_recording_outcome *outcome, struct st_error *e)
{
	const struct st_recording *all = arg;
	bool no_memory = all->no_memory || !all->processes.n;
	for (size_t i = 0; i < all->processes.n; i++)
		no_memory |= all->processes.v[i]->no_memory;
	if (no_memory)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the records");
	if (st_recording_write(all, out, outcome, e))
		return ST_FAILED;
	for (size_t i = 0; i < all->request->functions->n; i++)
		all->request->functions->matched[i] += is_matched(all, i);
	if (outcome->records)
		return ST_OK;
	return e ? complain_of_silence(all, out, e) : ST_FAILED; /* finding the cause takes time */
}

static uint64_t
calls_so_far(const struct st_recording *all)
{
	uint64_t calls = 0;
	for (size_t i = 0; i < all->processes.n; i++) {
		const struct st_recording_targets *t = all->processes.v[i];
		for (size_t k = 0; k < t->list.n; k++) {
			const struct st_record_function *r =
			        st_recorded_function(t->probes, &t->list.v[k]);
			calls += r ? __atomic_load_n(&r->calls, __ATOMIC_RELAXED) : 0;
		}
	}
	return calls;
}

/* For struct st_probes: `watch`. Writes what has been recorded so far, so that it is not lost if
 * strobe is killed. Does not wait for a thread that puts probes into an image, which may take
 * seconds: the end of the program would be noticed late. */
static void
save_so_far(void *recording)
{
	struct st_recording *all = recording;
	struct st_recording_interim *i = &all->interim;
	if (!st_recording_interim_due(i) || pthread_mutex_trylock(&all->probes->installing))
		return;
	const uint64_t calls = calls_so_far(all);
	if (calls != i->calls) {
		all->unfinished = st_now_raw() - i->begin;
		if (st_recording_interim_save(i, all->request->output, write_records, all))
			i->calls = calls;
		all->unfinished = 0;
	}
	pthread_mutex_unlock(&all->probes->installing);
}

static st_status
record_process(const struct st_recording_request *r, struct st_probes *p, struct st_error *e)
{
	if (r->pid)
		return st_probes_attach(p, r->pid, e) || st_probes_detach(p, r->seconds, e)
		               ? ST_FAILED
		               : ST_OK;
	return st_probes_start(p, r->program, r->own_group, e) || st_probes_wait(p, r->seconds, e)
	               ? ST_FAILED
	               : ST_OK;
}

static st_status
run_probes(const struct st_recording_request *r, struct st_recording_outcome *outcome,
           struct st_error *e)
{
	struct st_recording recording = {.request = r};
	struct st_probes probes = {
	        .choose = st_recording_choose,
	        .mapped = st_recording_mapped,
	        .watch = save_so_far,
	        .arg = &recording,
	        .process = {.records_calls = true,
	                    .reads_clock = (r->metrics & 1u << ST_RECORD_CPU) != 0,
	                    .whole = true,
	                    .follows = r->follow}};
	recording.probes = &probes;
	st_status status = record_process(r, &probes, e);
	if (!status) {
		outcome->pid = (uint32_t)probes.process.pid;
		outcome->exit_code = r->pid ? 0 : end_of_program(probes.process.status).exit_code;
		status = st_recording_save(r->output, write_records, &recording, outcome, e);
	}
	st_recording_free(&recording);
	st_probes_free(&probes);
	return status;
}

/* The result must not replace the program or a file that it is given. */
static st_status
check_output(const struct st_recording_request *r, struct st_error *e)
{
	if (st_output_check(r->output, e))
		return ST_FAILED;
	for (size_t i = 0; !r->pid && r->program[i]; i++)
		if (st_output_check_input(r->output, r->program[i], NULL))
			return st_fail(e, ST_EXIT_USAGE,
			               "the records would replace %s, an argument of the program: "
			               "give -o another file",
			               r->program[i]);
	return ST_OK;
}

st_status
st_recording_run(const struct st_recording_request *r, struct st_recording_outcome *out,
                 struct st_error *e)
{
	*out = (struct st_recording_outcome){0};
	if (check_output(r, e))
		return ST_FAILED;
	return st_engine_is_needed(r) ? st_engine_record(r, out, e) : run_probes(r, out, e);
}
