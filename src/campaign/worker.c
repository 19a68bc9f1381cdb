/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "campaign/calibrate.h"
#include "campaign/heart.h"
#include "profile/output.h"

/* A task is given up after this number of workers has ended during it: the task itself may be the
 * reason. */
enum { MOST_GENERATIONS = 5 };

struct worker {
	const struct st_campaign *c;
	const struct st_work *work;
	char host[256], name[320];
	char *report, *scratch;
	char *reserve; /* the path of a file that takes the reason for a quarantine: the disk may be
	                  full by then */
	int fd;        /* of the report, which is locked as long as this process lives */
	double noise;
	size_t tasks, room;      /* tasks so far, and elements of the arrays */
	bool *done;              /* tasks that have a result or were given up */
	unsigned char *attempts; /* generations of leases that were seen */
	size_t cursor;           /* tasks before it have been tried once */
	size_t task;             /* that is executed, */
	unsigned generation;     /* by this lease */
	struct st_heart heart;
};

enum claim { CLAIM_TASK, CLAIM_LATER, CLAIM_NONE };

static st_status
worker_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the worker of the campaign");
}

/* ---- workers that are alive or lost ---- */

static void
worker_boot(char *boot, int size)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (!f || !fgets(boot, size, f))
		*boot = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	if (f)
		fclose(f);
}

static double
worker_seconds(struct timespec t)
{
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double
st_worker_moment(const char *path)
{
	struct stat s;
	return stat(path, &s) ? NAN : worker_seconds(s.st_mtim);
}

/* Touches an open file, and returns the time that the file server gave it; NAN: that failed. */
static double
worker_touch(int fd)
{
	struct stat s;
	return futimens(fd, NULL) || fstat(fd, &s) ? NAN : worker_seconds(s.st_mtim);
}

double
st_worker_clock(const struct st_campaign *c)
{
	struct timespec here;
	char *path = st_campaign_path(c, "clock");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
	double now = fd < 0 ? NAN : worker_touch(fd);
	if (fd >= 0)
		close(fd);
	free(path);
	clock_gettime(CLOCK_REALTIME, &here);
	return isnan(now) ? worker_seconds(here) : now;
}

/* The lock of a report is released when its process ends. Other nodes may not see the lock. */
static bool
report_is_unlocked(int fd)
{
	char boot[64] = "", line[320] = "";
	worker_boot(boot, sizeof boot);
	ssize_t n = read(fd, line, sizeof line - 1);
	bool here = n > 0 && *boot && !strncmp(line, "boot ", 5) &&
	            !strncmp(line + 5, boot, strlen(boot));
	return here && !flock(fd, LOCK_SH | LOCK_NB);
}

/* Opens the report, since NFS asks the server for the time of a file only then. */
bool
st_worker_is_lost(const struct st_campaign *c, const char *path, double now)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool lost = !fstat(fd, &s) &&
	            (now - worker_seconds(s.st_mtim) > c->lease || report_is_unlocked(fd));
	close(fd);
	return lost;
}

struct worker_sweeping {
	const struct st_campaign *c;
	double now;
};

static void
sweep_report(void *arg, const char *name)
{
	const struct worker_sweeping *sweeping = arg;
	char *path = st_campaign_path(sweeping->c, "workers/%s", name);
	if (path && st_worker_is_lost(sweeping->c, path, sweeping->now))
		unlink(path);
	free(path);
}

void
st_worker_sweep(const struct st_campaign *c)
{
	struct worker_sweeping sweeping = {c, st_worker_clock(c)};
	st_campaign_each(c, "workers", sweep_report, &sweeping);
}

/* ---- the controller ---- */

/* Tries several times: a worker that checks whether the controller lives holds the lock briefly. */
static bool
controller_lock(int fd)
{
	enum { ATTEMPTS = 20 };
	const struct timespec pause = {.tv_nsec = 5000000};
	for (int i = 0; i < ATTEMPTS; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return true; /* without locks, a second controller is not detected */
		nanosleep(&pause, NULL);
	}
	return false;
}

st_status
st_controller_begin(struct st_controller *k, const struct st_campaign *c, struct st_error *e)
{
	char boot[64], *path = st_campaign_path(c, ST_CONTROLLER);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
	free(path);
	if (fd < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s/" ST_CONTROLLER ": %s",
		               c->folder, strerror(errno));
	if (!controller_lock(fd)) {
		close(fd);
		return st_fail(e, ST_EXIT_FAILED,
		               "another strobe works on the campaign in %s: wait for it, or end "
		               "it with strobe campaign cancel",
		               c->folder);
	}
	worker_boot(boot, sizeof boot);
	if (ftruncate(fd, 0) || dprintf(fd, "boot %s\n", boot) < 0) {
		st_cause(e, ST_EXIT_FAILED, "cannot write %s/" ST_CONTROLLER ": %s", c->folder,
		         strerror(errno));
		close(fd);
		return ST_FAILED;
	}
	k->heart = (struct st_heart){.fd = fd, .interval = c->lease / 6};
	k->begun = true;
	st_heart_begin(&k->heart);
	return ST_OK;
}

void
st_controller_end(struct st_controller *k)
{
	if (!k->begun)
		return;
	st_heart_end(&k->heart);
	close(k->heart.fd);
	k->begun = false;
}

bool
st_controller_lives(const struct st_campaign *c, double now)
{
	char *path = st_campaign_path(c, ST_CONTROLLER);
	const bool lost = path && (access(path, F_OK) || st_worker_is_lost(c, path, now));
	free(path);
	return !lost;
}

/* ---- the report ---- */

/* Slurm's name of the node: of several nodes on one machine, each is one. */
static void
worker_node(char *name, size_t size)
{
	const char *slurm = getenv("SLURMD_NODENAME");
	*name = '\0';
	if (slurm)
		snprintf(name, size, "%s", slurm);
	else if (gethostname(name, size - 1))
		*name = '\0';
	if (!*name || strchr(name, '/'))
		snprintf(name, size, "unknown");
}

static st_status
worker_make_reserve(struct worker *w, struct st_error *e)
{
	char blank[sizeof e->text];
	w->reserve = st_campaign_path(w->c, "tmp/%s.reserve", w->name);
	if (!w->reserve)
		return worker_no_memory(e);
	memset(blank, ' ', sizeof blank);
	const int fd = open(w->reserve, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	errno = fd >= 0 ? ENOSPC : errno; /* a short write sets none */
	const bool written = fd >= 0 && write(fd, blank, sizeof blank) == (ssize_t)sizeof blank;
	const int error = errno;
	if (fd >= 0)
		close(fd);
	return written ? ST_OK : st_output_failed(w->reserve, error, e);
}

static st_status
worker_make_report(struct worker *w, struct st_error *e)
{
	struct timespec now;
	char boot[64];
	clock_gettime(CLOCK_REALTIME, &now);
	worker_node(w->host, sizeof w->host);
	snprintf(w->name, sizeof w->name, "%s.%ld.%lld%09ld", w->host, (long)getpid(),
	         (long long)now.tv_sec, now.tv_nsec);
	w->report = st_campaign_path(w->c, "workers/%s", w->name);
	w->scratch = st_campaign_path(w->c, "tmp/%s.d", w->name);
	if (!w->report || !w->scratch)
		return worker_no_memory(e);
	w->fd = open(w->report, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	if (w->fd < 0)
		return st_output_failed(w->report, errno, e);
	if (mkdir(w->scratch, 0777))
		return st_output_failed(w->scratch, errno, e);
	flock(w->fd, LOCK_EX | LOCK_NB); /* where there are no locks, the time decides alone */
	worker_boot(boot, sizeof boot);
	if (dprintf(w->fd, "boot %s\nhost %s\npid %ld\ncpu %d\n", boot, w->host, (long)getpid(),
	            w->work->cpu) < 0)
		return st_output_failed(w->report, errno, e);
	return worker_make_reserve(w, e);
}

static void
worker_look(void *arg)
{
	const struct worker *w = arg;
	if (st_campaign_is_cancelled(w->c))
		kill(getpid(), SIGTERM); /* ends the task, too */
}

/* ---- leases ---- */

static char *
lease_path(const struct worker *w, size_t task, unsigned generation)
{
	return st_campaign_path(w->c, "leases/%zu.%u", task, generation);
}

static bool
task_has_result(const struct worker *w, size_t task)
{
	char name[64];
	snprintf(name, sizeof name, "results/%zu", task);
	return st_campaign_has(w->c, name);
}

static void
lease_release(struct worker *w)
{
	char *path = lease_path(w, w->task, w->generation);
	if (path)
		unlink(path);
	free(path);
}

/* Whether this worker has the task now. After the result of a task its lease is gone, so that the
 * result is looked for once the lease is there. */
static st_status
lease_take(struct worker *w, size_t task, unsigned generation, bool *taken, struct st_error *e)
{
	char *path = lease_path(w, task, generation);
	if (!path)
		return worker_no_memory(e);
	*taken = !link(w->report, path);
	int error = errno;
	st_status status = ST_OK;
	if (!*taken && error != EEXIST)
		status = st_output_failed(path, error, e);
	if (*taken) {
		w->task = task;
		w->generation = generation;
		if (task_has_result(w, task)) {
			lease_release(w);
			w->done[task] = true;
			*taken = false;
		}
	}
	free(path);
	return status;
}

static st_status
claim_untried(struct worker *w, bool *taken, struct st_error *e)
{
	*taken = false;
	for (; w->cursor < w->tasks && !*taken; w->cursor++)
		if (!w->done[w->cursor] && lease_take(w, w->cursor, 0, taken, e))
			return ST_FAILED;
	return ST_OK;
}

static void
note_done(void *arg, const char *name)
{
	struct worker *w = arg;
	char *end;
	unsigned long task = strtoul(name, &end, 10);
	if (end != name && !*end && task < w->tasks)
		w->done[task] = true;
}

static void
note_lease(void *arg, const char *name)
{
	struct worker *w = arg;
	unsigned long task;
	unsigned generation;
	if (sscanf(name, "%lu.%u", &task, &generation) == 2 && task < w->tasks &&
	    generation < MOST_GENERATIONS && w->attempts[task] <= generation)
		w->attempts[task] = (unsigned char)(generation + 1);
}

static st_status
give_task_up(struct worker *w, size_t task, struct st_error *e)
{
	char name[64], text[128];
	bool first;
	snprintf(name, sizeof name, "failed/%zu", task);
	snprintf(text, sizeof text, "%d workers ended during this run", MOST_GENERATIONS);
	w->done[task] = true;
	return st_campaign_put(w->c, w->name, name, text, &first, e);
}

/* The task of a worker that is lost, or one that a worker has given back. */
static st_status
claim_again(struct worker *w, size_t task, double now, bool *taken, struct st_error *e)
{
	unsigned next = w->attempts[task];
	char *path = next ? lease_path(w, task, next - 1) : NULL;
	bool lost = !next || (path && st_worker_is_lost(w->c, path, now));
	free(path);
	if (!lost)
		return ST_OK;
	if (next >= MOST_GENERATIONS)
		return task_has_result(w, task) ? ST_OK : give_task_up(w, task, e);
	return lease_take(w, task, next, taken, e);
}

static st_status
claim_lost(struct worker *w, enum claim *claim, struct st_error *e)
{
	bool taken = false, all = true;
	st_status status = ST_OK;
	memset(w->attempts, 0, w->tasks);
	memset(w->done, 0, w->tasks * sizeof *w->done);
	st_campaign_each(w->c, "leases", note_lease, w); /* before the results: see lease_take */
	st_campaign_each(w->c, "results", note_done, w);
	st_campaign_each(w->c, "failed", note_done, w);
	const double now = worker_touch(w->fd); /* the clock of all reports */
	for (size_t i = 0; i < w->tasks && !status && !taken; i++) {
		if (w->done[i])
			continue;
		status = claim_again(w, i, now, &taken, e);
		all &= w->done[i];
	}
	*claim = taken ? CLAIM_TASK : all ? CLAIM_NONE : CLAIM_LATER;
	return status;
}

static st_status
worker_grow(struct worker *w, size_t tasks, struct st_error *e)
{
	const size_t room = tasks * 2 + 64;
	if (tasks > w->room) {
		bool *done = reallocarray(w->done, room, sizeof *done);
		if (!done)
			return worker_no_memory(e);
		w->done = done;
		unsigned char *attempts = realloc(w->attempts, room);
		if (!attempts)
			return worker_no_memory(e);
		w->attempts = attempts;
		memset(w->done + w->room, 0, (room - w->room) * sizeof *w->done);
		memset(w->attempts + w->room, 0, room - w->room);
		w->room = room;
	}
	w->tasks = tasks;
	return ST_OK;
}

static st_status
worker_read_tasks(struct worker *w, struct st_error *e)
{
	size_t tasks = w->c->tasks;
	if (w->work->more && w->work->more(w->work->arg, &tasks, e))
		return ST_FAILED;
	return worker_grow(w, tasks, e);
}

static st_status
claim_next(struct worker *w, enum claim *claim, struct st_error *e)
{
	bool taken;
	if (w->cursor >= w->tasks && worker_read_tasks(w, e))
		return ST_FAILED;
	if (claim_untried(w, &taken, e))
		return ST_FAILED;
	*claim = CLAIM_TASK;
	return taken ? ST_OK : claim_lost(w, claim, e);
}

/* ---- work ---- */

static st_status
worker_put_result(struct worker *w, struct st_worked *out, struct st_error *e)
{
	char name[64];
	bool first = false;
	snprintf(name, sizeof name, "results/%zu", w->task);
	char *text = st_text_of("%s\nend\n", out->text);
	st_status status =
	        text ? st_campaign_put(w->c, w->name, name, text, &first, e) : worker_no_memory(e);
	if (!first && out->file)
		unlink(out->file);
	w->done[w->task] = !status;
	free(text);
	return status;
}

static st_status
worker_execute(struct worker *w, struct st_error *e)
{
	const struct st_worker_task t = {
	        .number = w->task, .worker = w->name, .noise = w->noise, .scratch = w->scratch};
	struct st_worked out = {0};
	st_status status = w->work->execute(w->work->arg, &t, &out, e);
	if (!status && !out.interrupted)
		status = worker_put_result(w, &out, e);
	lease_release(w);
	free(out.text);
	free(out.file);
	return status;
}

static bool
worker_ends(const struct worker *w)
{
	return w->work->interrupted(w->work->arg) || st_campaign_is_cancelled(w->c);
}

static void
worker_nap(double seconds)
{
	const struct timespec t = {0, (long)(seconds * 1e9)};
	nanosleep(&t, NULL);
}

/* Waits for a lease to expire or, if further tasks may come, until there is one. */
static st_status
worker_wait(struct worker *w, struct st_error *e)
{
	const double seconds = fmin(w->c->lease / 10, 0.5), step = w->work->more ? 0.005 : seconds;
	const size_t before = w->tasks;
	for (double waited = 0; waited < seconds && !worker_ends(w); waited += step) {
		worker_nap(step);
		if (w->work->more && worker_read_tasks(w, e))
			return ST_FAILED;
		if (w->tasks > before)
			break;
	}
	return ST_OK;
}

/* Whether an idle worker continues: only a controller that lives adds tasks. */
static bool
worker_is_needed(const struct worker *w, enum claim claim)
{
	if (claim == CLAIM_LATER || !w->work->more)
		return claim == CLAIM_LATER;
	return st_controller_lives(w->c, worker_touch(w->fd));
}

static st_status
worker_loop(struct worker *w, struct st_error *e)
{
	while (!worker_ends(w)) {
		enum claim claim;
		st_status status = claim_next(w, &claim, e);
		if (!status && claim == CLAIM_TASK)
			status = worker_execute(w, e);
		else if (!status && worker_is_needed(w, claim))
			status = worker_wait(w, e);
		else if (!status)
			return ST_OK;
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- admission of the node ---- */

static st_status
worker_calibrate(struct worker *w, struct st_error *e)
{
	const double limit = w->c->noise;
	w->noise = NAN;
	if (!(limit > 0))
		return ST_OK;
	w->noise = st_node_noise(limit);
	if (w->noise > limit)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "equal work differs by up to %.2g %%, but at most %.2g %% are allowed: "
		        "allow more with %s",
		        w->noise * 100, limit * 100, w->c->noise_option);
	return ST_OK;
}

/* The first node that is admitted determines the kind of machine; all others must be of this kind.
 */
static st_status
worker_check_machine(struct worker *w, struct st_error *e)
{
	bool first;
	if (st_campaign_put(w->c, w->name, "machine", w->work->machine, &first, e))
		return ST_FAILED;
	char *machine = st_campaign_read(w->c, "machine");
	st_status status = machine ? ST_OK : worker_no_memory(e);
	if (!status && strcmp(machine, w->work->machine) != 0) {
		size_t at = 0, line = 0;
		for (; machine[at] && machine[at] == w->work->machine[at]; at++)
			line = machine[at] == '\n' ? at + 1 : line;
		const char *a = machine + line, *b = w->work->machine + line;
		status = st_fail(
		        e, ST_EXIT_FAILED,
		        "the machine differs from the first one of the campaign: that one has "
		        "%.*s, this one has %.*s",
		        (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
	}
	free(machine);
	return status;
}

static st_status
worker_admit(struct worker *w, struct st_error *e)
{
	char name[300];
	snprintf(name, sizeof name, "quarantine/%s", w->host);
	if (st_campaign_has(w->c, name))
		return st_fail(e, ST_EXIT_FAILED, "the node is in quarantine");
	if (worker_calibrate(w, e) || worker_check_machine(w, e))
		return ST_FAILED;
	dprintf(w->fd, "noise %.6g\n", w->noise);
	return ST_OK;
}

/* Writes the cause without the reserve; if the disk is full, the file is empty. */
static void
quarantine_anyhow(const char *path, const struct st_error *cause)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0 && dprintf(fd, "%s", cause->text) < 0)
		fprintf(stderr, "strobe: cannot write %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void
worker_quarantine(struct worker *w, const struct st_error *cause)
{
	const size_t n = strlen(cause->text);
	char *path = st_campaign_path(w->c, "quarantine/%s", w->host);
	const int fd = w->reserve ? open(w->reserve, O_WRONLY | O_CLOEXEC) : -1;
	const bool linked = fd >= 0 && path && pwrite(fd, cause->text, n, 0) == (ssize_t)n &&
	                    !ftruncate(fd, (off_t)n) && !link(w->reserve, path);
	if (path && !linked)
		quarantine_anyhow(path, cause); /* does nothing if the file exists */
	if (fd >= 0)
		close(fd);
	free(path);
}

static void
worker_close(struct worker *w)
{
	st_heart_end(&w->heart);
	if (w->scratch)
		rmdir(w->scratch);
	if (w->report)
		unlink(w->report);
	if (w->reserve)
		unlink(w->reserve);
	free(w->reserve);
	if (w->fd >= 0)
		close(w->fd);
	free(w->report);
	free(w->scratch);
	free(w->done);
	free(w->attempts);
}

st_status
st_campaign_work(const struct st_campaign *c, const struct st_work *work, struct st_error *e)
{
	struct worker w = {.c = c, .work = work, .fd = -1};
	st_status status = worker_read_tasks(&w, e);
	if (!status)
		status = worker_make_report(&w, e);
	if (!status) {
		w.heart = (struct st_heart){
		        .fd = w.fd, .interval = c->lease / 6, .each = worker_look, .arg = &w};
		st_heart_begin(&w.heart);
		status = worker_admit(&w, e);
	}
	if (!status)
		status = worker_loop(&w, e);
	if (status && *w.host)
		worker_quarantine(&w, e);
	worker_close(&w);
	return status;
}
