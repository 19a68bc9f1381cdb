/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers of a campaign: each task has one result, whoever is killed; leases of the lost are taken
 * over, and those of the living are not. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "campaign/calibrate.h"
#include "campaign/status.h"
#include "campaign/worker.h"
#include "campaign/workers.h"

enum { TASKS = 200 };

struct scene {
	char folder[64];
	struct st_campaign c;
	int executed[2]; /* a pipe: the numbers of tasks that were executed to their end */
};

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void
scene_campaign(struct scene *s, size_t tasks, double lease)
{
	struct st_error e;
	json_t *about =
	        json_pack("{s:{si, ss}, sI, sf, sf}", "strobe", "version", 1, "kind", "campaign",
	                  "tasks", (json_int_t)tasks, "lease", lease, "noise", 0.0);
	assert_int_equal(st_campaign_make(s->folder, about, &e), 0);
	json_decref(about);
	st_campaign_close(&s->c);
	assert_int_equal(st_campaign_open(&s->c, s->folder, &e), 0);
}

static int
scene_begin(void **state)
{
	struct scene *s = calloc(1, sizeof *s);
	strcpy(s->folder, "/tmp/strobe-campaign-XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	assert_int_equal(pipe(s->executed), 0);
	*state = s;
	return 0;
}

static int
scene_end(void **state)
{
	struct scene *s = *state;
	char *command = st_text_of("rm -rf %s", s->folder);
	st_campaign_close(&s->c);
	close(s->executed[0]);
	close(s->executed[1]);
	int bad = system(command);
	free(command);
	free(s);
	return bad;
}

/* ---- what workers do in these tests ---- */

static st_status
note_task(void *arg, const struct st_worker_task *t, struct st_worked *out, struct st_error *e)
{
	struct scene *s = arg;
	(void)e;
	assert_int_equal(write(s->executed[1], &t->number, sizeof t->number), sizeof t->number);
	out->text = st_text_of("task %zu", t->number);
	return ST_OK;
}

/* One task of ten kills the first worker that has it. */
static st_status
die_sometimes(void *arg, const struct st_worker_task *t, struct st_worked *out, struct st_error *e)
{
	struct scene *s = arg;
	char *mark = st_campaign_path(&s->c, "tmp/died-%zu", t->number);
	if (t->number % 10 == 3 && !mkdir(mark, 0700))
		kill(getpid(), SIGKILL);
	free(mark);
	return note_task(arg, t, out, e);
}

static st_status
die_always(void *arg, const struct st_worker_task *t, struct st_worked *out, struct st_error *e)
{
	if (t->number == 2)
		kill(getpid(), SIGKILL);
	return note_task(arg, t, out, e);
}

static st_status
node_is_bad(void *arg, const struct st_worker_task *t, struct st_worked *out, struct st_error *e)
{
	(void)arg, (void)t, (void)out;
	return st_fail(e, ST_EXIT_FAILED, "the disk is full");
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static struct st_work
work_of(struct scene *s, st_status (*execute)(void *, const struct st_worker_task *,
                                              struct st_worked *, struct st_error *))
{
	return (struct st_work){.execute = execute,
	                        .interrupted = never,
	                        .arg = s,
	                        .machine = "cpu=A\nkernel=B\n",
	                        .cpu = -1};
}

static pid_t
start_worker(struct scene *s, const struct st_work *work)
{
	struct st_error e;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(st_campaign_work(&s->c, work, &e) ? 1 : 0);
	return pid;
}

/* Workers that are killed are replaced. Returns the number of those that were. */
static int
work_to_the_end(struct scene *s, const struct st_work *work, int n)
{
	int alive = n, killed = 0, status;
	for (int i = 0; i < n; i++)
		start_worker(s, work);
	while (alive && wait(&status) > 0) {
		alive--;
		if (WIFSIGNALED(status)) {
			assert_int_equal(WTERMSIG(status), SIGKILL);
			killed++;
			start_worker(s, work);
			alive++;
		} else {
			assert_int_equal(WEXITSTATUS(status), 0);
		}
	}
	return killed;
}

static void
assert_executed(struct scene *s, size_t tasks, int each)
{
	int *times = calloc(tasks, sizeof *times);
	size_t number;
	close(s->executed[1]);
	while (read(s->executed[0], &number, sizeof number) == sizeof number)
		times[number]++;
	s->executed[1] = dup(s->executed[0]);
	for (size_t i = 0; i < tasks; i++)
		assert_int_equal(times[i], each);
	free(times);
}

static void
assert_results(struct scene *s, size_t tasks)
{
	for (size_t i = 0; i < tasks; i++) {
		char expected[32], *text = st_campaign_result(&s->c, i);
		snprintf(expected, sizeof expected, "task %zu", i);
		assert_non_null(text);
		assert_string_equal(text, expected);
		free(text);
	}
	assert_int_equal(st_campaign_each(&s->c, "results", NULL, NULL), tasks);
}

/* ---- tests ---- */

static void
each_task_once(void **state)
{
	struct scene *s = *state;
	scene_campaign(s, TASKS, 60);
	const struct st_work work = work_of(s, note_task);
	assert_int_equal(work_to_the_end(s, &work, 3), 0);
	assert_executed(s, TASKS, 1);
	assert_results(s, TASKS);
	assert_int_equal(st_campaign_each(&s->c, "leases", NULL, NULL), 0);
	assert_int_equal(st_campaign_each(&s->c, "workers", NULL, NULL), 0);
	assert_int_equal(st_campaign_each(&s->c, "tmp", NULL, NULL), 0);
}

/* The lease of a worker that was killed is taken over at once on the same machine: by its lock, not
 * after the minute of the lease. */
static void
killed_workers(void **state)
{
	struct scene *s = *state;
	scene_campaign(s, TASKS, 3600);
	const struct st_work work = work_of(s, die_sometimes);
	assert_int_equal(work_to_the_end(s, &work, 3), TASKS / 10);
	assert_executed(s, TASKS, 1);
	assert_results(s, TASKS);
}

static void
a_task_that_kills(void **state)
{
	struct scene *s = *state;
	struct st_campaign_status status;
	struct st_error e;
	scene_campaign(s, 5, 3600);
	const struct st_work work = work_of(s, die_always);
	assert_int_equal(work_to_the_end(s, &work, 2), 5);
	char *reason = st_campaign_given_up(&s->c, 2);
	assert_string_equal(reason, "5 workers ended during this run");
	free(reason);
	assert_null(st_campaign_given_up(&s->c, 1));
	assert_null(st_campaign_result(&s->c, 2));
	assert_int_equal(st_campaign_status_of(&status, &s->c, &e), 0);
	assert_int_equal(status.finished, 4);
	assert_int_equal(status.given_up, 1);
	assert_int_equal(status.workers.n, 5); /* all are lost */
	for (size_t i = 0; i < status.workers.n; i++)
		assert_true(status.workers.v[i].lost);
	st_campaign_status_free(&status);
	st_worker_sweep(&s->c);
	assert_int_equal(st_campaign_each(&s->c, "workers", NULL, NULL), 0);
	/* Another attempt begins to count again. */
	st_campaign_forgive(&s->c);
	assert_null(st_campaign_given_up(&s->c, 2));
	assert_int_equal(st_campaign_each(&s->c, "leases", NULL, NULL), 0);
	const struct st_work good = work_of(s, note_task);
	assert_int_equal(work_to_the_end(s, &good, 1), 0);
	assert_executed(s, 5, 1);
	assert_results(s, 5);
}

/* A lease of another machine, which reported `ago` seconds ago. */
static void
lease_of_elsewhere(struct scene *s, double ago)
{
	struct timespec now, times[2];
	char *report = st_campaign_path(&s->c, "workers/elsewhere.1.1");
	char *lease = st_campaign_path(&s->c, "leases/0.0");
	write_file(report, "boot of-another-machine\nhost elsewhere\npid 1\ncpu -1\n");
	assert_int_equal(link(report, lease), 0);
	clock_gettime(CLOCK_REALTIME, &now);
	times[0] = times[1] = (struct timespec){now.tv_sec - (time_t)ago, 0};
	assert_int_equal(utimensat(0, report, times, 0), 0);
	free(report);
	free(lease);
}

static void
silent_elsewhere(void **state)
{
	struct scene *s = *state;
	scene_campaign(s, 2, 3600);
	lease_of_elsewhere(s, 4000);
	const struct st_work work = work_of(s, note_task);
	assert_int_equal(work_to_the_end(s, &work, 1), 0);
	assert_executed(s, 2, 1);
	assert_results(s, 2);
}

static void
alive_elsewhere(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	bool first;
	scene_campaign(s, 2, 3600);
	lease_of_elsewhere(s, 1000);
	const struct st_work work = work_of(s, note_task);
	pid_t worker = start_worker(s, &work);
	while (!st_campaign_has(&s->c, "results/1"))
		usleep(1000);
	/* It waits for the other's result, whose coming ends it. */
	assert_int_equal(
	        st_campaign_put(&s->c, "elsewhere", "results/0", "task 0\nend\n", &first, &e), 0);
	assert_true(first);
	int status;
	assert_int_equal(waitpid(worker, &status, 0), worker);
	assert_int_equal(status, 0);
	assert_results(s, 2);
}

/* The first complete result counts; one that was cut is none. */
static void
results(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	bool first;
	scene_campaign(s, 2, 60);
	assert_int_equal(st_campaign_put(&s->c, "a", "results/0", "task 0\nend\n", &first, &e), 0);
	assert_true(first);
	assert_int_equal(st_campaign_put(&s->c, "b", "results/0", "other\nend\n", &first, &e), 0);
	assert_false(first);
	char *text = st_campaign_result(&s->c, 0);
	assert_string_equal(text, "task 0");
	free(text);
	/* A process that ended between the link and the removal of its temporary file. */
	char *left = st_campaign_path(&s->c, "tmp/a"), *path = st_campaign_path(&s->c, "results/0");
	assert_int_equal(link(path, left), 0);
	assert_int_equal(st_campaign_put(&s->c, "a", "results/0", "again\nend\n", &first, &e), 0);
	assert_false(first);
	text = st_campaign_result(&s->c, 0);
	assert_string_equal(text, "task 0");
	free(text);
	free(left);
	free(path);
	assert_int_equal(st_campaign_put(&s->c, "a", "results/1", "task", &first, &e), 0);
	assert_null(st_campaign_result(&s->c, 1));
	assert_false(st_campaign_has(&s->c, "results/1"));
}

static void
bad_nodes(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	scene_campaign(s, 2, 60);
	const struct st_work bad = work_of(s, node_is_bad), good = work_of(s, note_task);
	assert_int_equal(st_campaign_work(&s->c, &bad, &e), -1);
	assert_string_equal(e.text, "the disk is full");
	assert_int_equal(st_campaign_each(&s->c, "leases", NULL, NULL), 0);
	assert_int_equal(st_campaign_work(&s->c, &good, &e), -1);
	assert_string_equal(e.text, "the node is in quarantine");
	st_campaign_forgive(&s->c);
	struct st_work other = good;
	other.machine = "cpu=A\nkernel=C\n";
	assert_int_equal(st_campaign_work(&s->c, &other, &e), -1);
	assert_string_equal(e.text, "the machine differs from the first one of the campaign: "
	                            "that one has kernel=B, this one has kernel=C");
	st_campaign_forgive(&s->c);
	assert_int_equal(st_campaign_work(&s->c, &good, &e), 0);
	assert_results(s, 2);
}

static void
cancelled(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	scene_campaign(s, 2, 60);
	const struct st_work work = work_of(s, note_task);
	assert_int_equal(st_campaign_cancel(&s->c, &e), 0);
	assert_int_equal(st_campaign_work(&s->c, &work, &e), 0);
	assert_false(st_campaign_has(&s->c, "results/0"));
	st_campaign_forgive(&s->c);
	assert_int_equal(st_campaign_work(&s->c, &work, &e), 0);
	assert_results(s, 2);
}

/* The first worker of a task is suspended during it for longer than the lease. */
static st_status
suspended_first(void *arg, const struct st_worker_task *t, struct st_worked *out,
                struct st_error *e)
{
	struct scene *s = arg;
	char *mark = st_campaign_path(&s->c, "tmp/suspended");
	bool first = !mkdir(mark, 0700);
	free(mark);
	if (first)
		kill(getpid(), SIGSTOP);
	out->file = st_campaign_path(&s->c, "profiles/%s", first ? "first" : "second");
	write_file(out->file, "");
	(void)e, (void)t;
	out->text = st_text_of("%s", first ? "first" : "second");
	return ST_OK;
}

/* Such a task is executed twice; one result counts, and the file of the other is removed. */
static void
suspended_longer_than_the_lease(void **state)
{
	struct scene *s = *state;
	int status;
	scene_campaign(s, 1, 1);
	const struct st_work work = work_of(s, suspended_first);
	pid_t first = start_worker(s, &work);
	assert_int_equal(waitpid(first, &status, WUNTRACED), first);
	assert_true(WIFSTOPPED(status));
	pid_t second = start_worker(s, &work);
	assert_int_equal(waitpid(second, &status, 0), second);
	assert_int_equal(status, 0);
	assert_true(st_campaign_has(&s->c, "results/0"));
	assert_int_equal(kill(first, SIGCONT), 0);
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_int_equal(status, 0);
	char *text = st_campaign_result(&s->c, 0);
	assert_string_equal(text, "second");
	free(text);
	assert_true(st_campaign_has(&s->c, "profiles/second"));
	assert_false(st_campaign_has(&s->c, "profiles/first"));
	assert_int_equal(st_campaign_each(&s->c, "results", NULL, NULL), 1);
	assert_int_equal(st_campaign_each(&s->c, "leases", NULL, NULL), 0);
}

/* ---- Slurm ---- */

/* A program in the place of one of Slurm. */
static void
fake_program(struct scene *s, const char *name, const char *text)
{
	char *path = st_text_of("%s/%s", s->folder, name);
	write_file(path, text);
	assert_int_equal(chmod(path, 0755), 0);
	free(path);
}

/* The PATH before the programs of Slurm were replaced. */
struct fake_slurm {
	char *path;
};

/* A campaign of five tasks, and programs in the place of those of Slurm. */
static void
fake_slurm_begin(struct fake_slurm *f, struct scene *s, const char *sinfo, const char *sbatch,
                 const char *squeue)
{
	f->path = strdup(getenv("PATH"));
	char *path = st_text_of("%s:%s", s->folder, f->path);
	scene_campaign(s, 5, 60);
	assert_int_equal(setenv("PATH", path, 1), 0);
	fake_program(s, "sinfo", sinfo);
	fake_program(s, "sbatch", sbatch);
	fake_program(s, "squeue", squeue);
	free(path);
}

static void
fake_slurm_end(struct fake_slurm *f)
{
	assert_int_equal(setenv("PATH", f->path, 1), 0);
	free(f->path);
}

static void
bad_node(struct scene *s, const char *name, const char *reason)
{
	char *path = st_campaign_path(&s->c, "quarantine/%s", name);
	write_file(path, reason);
	free(path);
}

/* Checks the options of the last sbatch, which the fake one writes to the current folder. */
static void
assert_asked(const char *text)
{
	char got[256] = "";
	FILE *f = fopen("asked", "r");
	assert_non_null(f);
	got[fread(got, 1, sizeof got - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(got, text);
}

/* No pilot is put on a bad node, and none is submitted when all nodes are bad. */
static void
slurm_has_bad_nodes(void **state)
{
	struct scene *s = *state;
	struct st_workers pool;
	struct st_error e;
	const struct st_workers_place place = {.slurm = true};
	struct fake_slurm slurm;
	fake_slurm_begin(
	        &slurm, s, "#!/bin/sh\necho 'main* n1'; echo 'main* n2'; echo 'main* n3'\n",
	        "#!/bin/sh\necho $* | tr ' ' '\\n' | grep -e array -e exclude > asked\necho 1\n",
	        "#!/bin/sh\nexit 0\n");
	assert_int_equal(chdir(s->folder), 0);
	assert_int_equal(st_workers_begin(&pool, &s->c, &place, "strobe", NULL, &e), 0);
	assert_int_equal(st_workers_attend(&pool, &e), 0);
	assert_asked("--array=0-2\n");
	bad_node(s, "n1", "the disk is full");
	bad_node(s, "n3", "");
	pool.next = 0;
	assert_int_equal(st_workers_attend(&pool, &e), 0);
	assert_asked("--array=0-0\n--exclude=n1,n3\n");
	bad_node(s, "n2", "");
	pool.next = 0;
	assert_int_equal(st_workers_attend(&pool, &e), -1);
	assert_non_null(strstr(e.text, "no worker of the campaign is left; node n"));
	assert_int_equal(pool.submitted, 2);
	char *why = st_campaign_why_bad(&s->c, "n1");
	assert_string_equal(why, "the disk is full");
	free(why);
	why = st_campaign_why_bad(&s->c, "n3");
	assert_non_null(strstr(why, "it cannot write to "));
	free(why);
	st_workers_end(&pool);
	assert_int_equal(chdir("/"), 0);
	fake_slurm_end(&slurm);
}

static void
slurm_is_silent(void **state)
{
	struct scene *s = *state;
	struct st_workers pool;
	struct st_error e;
	const struct st_workers_place place = {.slurm = true};
	struct fake_slurm slurm;
	fake_slurm_begin(&slurm, s,
	                 "#!/bin/sh\necho 'main* n1'; echo 'main* n2'; echo 'other n3'\n",
	                 "#!/bin/sh\necho 17\n", "#!/bin/sh\necho Socket timed out\nexit 1\n");
	assert_int_equal(st_workers_begin(&pool, &s->c, &place, "strobe", NULL, &e), 0);
	assert_int_equal(st_workers_attend(&pool, &e), 0); /* there is no pilot to ask for */
	assert_int_equal(pool.submitted, 1);
	for (int i = 0; i < 3; i++) {
		pool.next = 0;
		assert_int_equal(st_workers_attend(&pool, &e), 0);
		assert_true(pool.failing > 0 && pool.next > 0);
	}
	/* It answers again: nothing is left of the failures. */
	fake_program(s, "squeue", "#!/bin/sh\necho 17_0\n");
	pool.next = 0;
	assert_int_equal(st_workers_attend(&pool, &e), 0);
	assert_true(!pool.failing);
	assert_int_equal(pool.submitted, 1);
	/* It is silent for longer than the controller waits. */
	fake_program(s, "squeue", "#!/bin/sh\necho Socket timed out\nexit 1\n");
	pool.next = 0;
	assert_int_equal(st_workers_attend(&pool, &e), 0);
	pool.failing -= 700;
	pool.next = 0;
	assert_int_equal(st_workers_attend(&pool, &e), -1);
	assert_non_null(strstr(e.text,
	                       "s: squeue failed: Socket timed out; the pilots continue, and "
	                       "all results are kept"));
	st_workers_end(&pool);
	/* The first call has to succeed at once. */
	fake_program(s, "sbatch", "#!/bin/sh\necho no such account\nexit 1\n");
	fake_program(s, "squeue", "#!/bin/sh\nexit 0\n");
	assert_int_equal(st_workers_begin(&pool, &s->c, &place, "strobe", NULL, &e), 0);
	assert_int_equal(st_workers_attend(&pool, &e), -1);
	assert_string_equal(e.text, "sbatch failed: no such account");
	st_workers_end(&pool);
	fake_slurm_end(&slurm);
}

/* ---- campaigns that grow ---- */

/* The file "number" has the number of tasks. */
static st_status
read_growth(void *arg, size_t *tasks, struct st_error *e)
{
	struct scene *s = arg;
	(void)e;
	char *text = st_campaign_read(&s->c, "number");
	*tasks = strtoul(text ? text : "0", NULL, 10);
	free(text);
	return ST_OK;
}

static void
grow_to(struct scene *s, const char *number)
{
	char *path = st_campaign_path(&s->c, "number"), *before = st_text_of("%s.new", path);
	write_file(before, number);
	assert_int_equal(rename(before, path), 0);
	free(before);
	free(path);
}

/* Workers wait for tasks as long as the controller lives, until they are told to end. */
static void
tasks_that_come_later(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	int status;
	scene_campaign(s, 0, 3600);
	struct st_controller controller = {0}, second = {0};
	struct st_work work = work_of(s, note_task);
	work.more = read_growth;
	assert_int_equal(st_controller_begin(&controller, &s->c, &e), 0);
	assert_int_equal(st_controller_begin(&second, &s->c, &e), -1);
	assert_non_null(strstr(e.text, "another strobe works on the campaign in "));
	st_controller_end(&second);
	pid_t workers[] = {start_worker(s, &work), start_worker(s, &work)};
	grow_to(s, "3");
	while (st_campaign_each(&s->c, "results", NULL, NULL) < 3)
		usleep(1000);
	grow_to(s, "200");
	while (st_campaign_each(&s->c, "results", NULL, NULL) < 200)
		usleep(1000);
	assert_int_equal(st_campaign_cancel(&s->c, &e), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(waitpid(workers[i], &status, 0), workers[i]);
		assert_int_equal(status, 0);
	}
	assert_executed(s, 200, 1);
	assert_results(s, 200);
	st_controller_end(&controller);
	/* The campaign has no controller now. */
	assert_int_equal(st_controller_begin(&second, &s->c, &e), 0);
	st_controller_end(&second);
}

/* A controller that is killed: its lock is released, and no worker waits for the lease. */
static void
controller_is_killed(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	scene_campaign(s, 0, 3600);
	struct st_work work = work_of(s, note_task);
	work.more = read_growth;
	grow_to(s, "2");
	const pid_t pid = fork();
	if (pid == 0) {
		struct st_controller controller = {0};
		if (!st_controller_begin(&controller, &s->c, &e))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(st_campaign_has(&s->c, ST_CONTROLLER));
	assert_int_equal(st_campaign_work(&s->c, &work, &e), 0);
	assert_results(s, 2);
}

/* A controller on another machine, whose lock cannot be seen, has not touched its file for the time
 * of the lease; and there may be none at all. */
static void
controller_is_silent(void **state)
{
	struct scene *s = *state;
	struct st_error e;
	scene_campaign(s, 0, 0.05);
	struct st_work work = work_of(s, note_task);
	work.more = read_growth;
	grow_to(s, "2");
	assert_int_equal(st_campaign_work(&s->c, &work, &e), 0);
	assert_results(s, 2);
	char *path = st_campaign_path(&s->c, ST_CONTROLLER);
	write_file(path, "boot of-another-machine\n");
	grow_to(s, "3");
	assert_int_equal(st_campaign_work(&s->c, &work, &e), 0);
	assert_results(s, 3);
	free(path);
}

/* Of 41 pairs, 11 are left out on each side: P(fewer than 12 of 41 below the median) <= 0.5 %. */
static void
noise_bound(void **state)
{
	double ratios[41];
	(void)state;
	for (int i = 0; i < 41; i++)
		ratios[i] = 1 + (i * 17 % 41 - 20) * 0.001; /* 0.98 to 1.02, once each */
	assert_float_equal(st_noise_bound(ratios, 41), 0.009, 1e-9);
	for (int i = 0; i < 41; i++)
		ratios[i] = 1.5;
	assert_float_equal(st_noise_bound(ratios, 41), 0.5, 1e-9);
	assert_true(isinf(st_noise_bound(ratios, 5)));
	assert_true(isinf(st_noise_bound(ratios, 0)));
}

static void
places(void **state)
{
	struct st_workers_place p;
	struct st_error e;
	(void)state;
	assert_int_equal(st_workers_place_read(&p, "local", &e), 0);
	assert_true(!p.slurm && !p.workers);
	assert_int_equal(st_workers_place_read(&p, "local:12", &e), 0);
	assert_true(!p.slurm && p.workers == 12);
	assert_int_equal(st_workers_place_read(&p, "slurm", &e), 0);
	assert_true(p.slurm && !p.partition);
	assert_int_equal(st_workers_place_read(&p, "slurm:long", &e), 0);
	assert_string_equal(p.partition, "long");
	static const char *const bad[] = {"",         "locally",  "local:", "local:0",
	                                  "local:2x", "local:-1", "slurm:", "slurms"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(st_workers_place_read(&p, bad[i], &e), -1);
		assert_int_equal(e.code, ST_EXIT_USAGE);
	}
}

int
main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
	        T(each_task_once),
	        T(killed_workers),
	        T(a_task_that_kills),
	        T(silent_elsewhere),
	        T(alive_elsewhere),
	        T(results),
	        T(bad_nodes),
	        T(cancelled),
	        T(suspended_longer_than_the_lease),
	        T(slurm_has_bad_nodes),
	        T(slurm_is_silent),
	        T(tasks_that_come_later),
	        T(controller_is_killed),
	        T(controller_is_silent),
	        cmocka_unit_test(noise_bound),
	        cmocka_unit_test(places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
