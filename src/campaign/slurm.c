/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/slurm.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/words.h"
#include "campaign/program.h"

enum { ANSWER = 1 << 20, MOST_WORDS = 16 };

static st_status
slurm_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the pilots of the campaign");
}

/* ---- nodes ---- */

struct slurm_nodes {
	size_t up, good;    /* nodes of the partition, and those that are not in quarantine */
	struct st_text bad; /* those that are: "--exclude=n1,n2", or empty */
};

/* A line "PARTITION NODE", the default partition with an asterisk. */
static void
count_node(struct slurm_nodes *n, const struct st_campaign *c, const char *partition,
           const char *line)
{
	char name[256], node[256], bad[300];
	if (sscanf(line, "%255s %255s", name, node) != 2)
		return;
	const size_t end = strlen(name) - 1;
	const bool usual = name[end] == '*';
	if (usual)
		name[end] = '\0';
	if (partition ? strcmp(name, partition) != 0 : !usual)
		return;
	snprintf(bad, sizeof bad, "quarantine/%s", node);
	n->up++;
	if (!st_campaign_has(c, bad))
		n->good++;
	else if (n->bad.out)
		fprintf(n->bad.out, "%s%s", ftell(n->bad.out) ? "," : "--exclude=", node);
}

/* *bad: an option of sbatch, or empty; malloc'ed. */
static st_status
slurm_find_nodes(struct slurm_nodes *n, const struct st_campaign *c, const char *partition,
                 char **bad, struct st_error *e)
{
	char *const argv[] = {"sinfo", "-h", "-N", "-o", "%P %N", "-t", "idle,mixed,alloc,comp",
	                      NULL};
	char *answer = malloc(ANSWER);
	*n = (struct slurm_nodes){0};
	if (!answer)
		return slurm_no_memory(e);
	st_text_begin(&n->bad);
	st_status status = st_program_ask(argv, answer, ANSWER, e);
	for (const char *line = answer; !status && line && *line;) {
		count_node(n, c, partition, line);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	*bad = st_text_end(&n->bad);
	if (!*bad)
		status = slurm_no_memory(e);
	if (!status && !n->up)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "no node of Slurm's %s%s is up: sinfo shows the partitions",
		                 partition ? "partition " : "default partition",
		                 partition ? partition : "");
	free(answer);
	return status;
}

/* ---- pilots ---- */

static char *
pilot_command(const struct st_campaign *c, const char *strobe)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out) {
		fputs("exec ", out);
		st_shell_quote(out, strobe);
		fputs(" campaign worker ", out);
		st_shell_quote(out, c->folder);
	}
	return st_text_end(&text);
}

/* The last line that begins with a digit; NULL: there is none. Other lines are warnings. */
static const char *
answer_number(const char *answer)
{
	const char *last = NULL;
	for (const char *line = answer; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (isdigit((unsigned char)*line))
			last = line;
	}
	return last;
}

/* The number of a job, as sbatch --parsable prints it: "17" or "17;cluster". */
static st_status
keep_pilots(const struct st_campaign *c, const char *answer, struct st_error *e)
{
	char name[64];
	bool first;
	const char *last = answer_number(answer);
	size_t n = last ? strspn(last, "0123456789") : 0;
	if (!n || n > 20)
		return st_fail(e, ST_EXIT_FAILED,
		               "sbatch answered '%.*s' instead of the number of a job",
		               (int)strcspn(answer, "\n"), answer);
	snprintf(name, sizeof name, "pilots/%.*s", (int)n, last);
	return st_campaign_put(c, "sbatch", name, "", &first, e);
}

/* exclude: an option, or empty. */
static st_status
submit_pilots(const struct st_campaign *c, const char *partition, const char *strobe, size_t pilots,
              char *exclude, struct st_error *e)
{
	char answer[4096];
	char *array = st_text_of("--array=0-%zu", pilots - 1);
	char *output = st_text_of("--output=%s/pilot-%%A-%%a.log", c->folder);
	char *place = st_text_of("--chdir=%s", c->folder);
	char *in =
	        partition ? st_text_of("--partition=%s", partition) : strdup("--job-name=strobe");
	char *command = pilot_command(c, strobe),
	     *wrap = command ? st_text_of("--wrap=%s", command) : NULL;
	char *const argv[] = {"sbatch",
	                      "--parsable",
	                      "--job-name=strobe",
	                      array,
	                      output,
	                      place,
	                      "--exclusive",
	                      "--nodes=1",
	                      in,
	                      wrap,
	                      *exclude ? exclude : NULL,
	                      NULL};
	st_status status = array && output && place && in && wrap
	                           ? st_program_ask(argv, answer, sizeof answer, e)
	                           : slurm_no_memory(e);
	if (!status)
		status = keep_pilots(c, answer, e);
	free(array);
	free(output);
	free(place);
	free(in);
	free(command);
	free(wrap);
	return status;
}

st_status
st_slurm_submit(const struct st_campaign *c, const char *partition, const char *strobe, bool *bad,
                struct st_error *e)
{
	struct slurm_nodes nodes;
	char *exclude = NULL;
	st_status status = slurm_find_nodes(&nodes, c, partition, &exclude, e);
	*bad = !status && !nodes.good;
	if (*bad) /* pilots would end at once */
		status = st_fail(e, ST_EXIT_FAILED, "all nodes are in quarantine");
	if (!status)
		status = submit_pilots(c, partition, strobe,
		                       nodes.good < c->tasks ? nodes.good : c->tasks, exclude, e);
	free(exclude);
	return status;
}

struct pilot_list {
	struct st_text text;
	FILE *out;
	size_t n;
};

static void
list_pilot(void *arg, const char *name)
{
	struct pilot_list *l = arg;
	if (l->out && isdigit((unsigned char)*name))
		fprintf(l->out, "%s%s", l->n++ ? "," : "", name);
}

/* "17,18", malloc'ed; NULL: there are none, or memory is exhausted. */
static char *
pilots_list(const struct st_campaign *c)
{
	struct pilot_list l = {0};
	l.out = st_text_begin(&l.text);
	st_campaign_each(c, "pilots", list_pilot, &l);
	char *text = st_text_end(&l.text);
	if (l.n)
		return text;
	free(text);
	return NULL;
}

/* Slurm forgets jobs after some minutes and then calls their numbers invalid. */
st_status
st_slurm_alive(const struct st_campaign *c, bool *alive, struct st_error *e)
{
	char *list = pilots_list(c), *answer = malloc(ANSWER);
	char *const argv[] = {"squeue", "-h", "-o", "%i", "-j", list, NULL};
	struct st_error cause;
	st_status status = ST_OK;
	*alive = false;
	if (!answer)
		status = slurm_no_memory(e);
	else if (list && !st_program_ask(argv, answer, ANSWER, &cause))
		*alive = answer_number(answer) != NULL;
	else if (list && !strstr(answer, "Invalid job id"))
		status = st_fail(e, ST_EXIT_FAILED, "%s", cause.text);
	free(list);
	free(answer);
	return status;
}

static void
cancel_pilot(void *arg, const char *name)
{
	char answer[1024];
	char *const argv[] = {"scancel", (char *)(uintptr_t)name, NULL};
	struct st_error e;
	(void)arg;
	if (isdigit((unsigned char)*name))
		ST_IGNORE(st_program_ask(argv, answer, sizeof answer, &e));
}

void
st_slurm_cancel(const struct st_campaign *c)
{
	st_campaign_each(c, "pilots", cancel_pilot, NULL);
}

void
st_slurm_end(const struct st_campaign *c, double seconds, int (*interrupted)(void))
{
	const struct timespec pause = {.tv_nsec = 500000000};
	const double until = st_now_raw() + seconds;
	enum { AGAIN = 10 }; /* questions after which the pilots are cancelled again */
	struct st_error e;
	bool alive;
	for (int i = 0;; i++) {
		if (i % AGAIN == 0)
			st_slurm_cancel(c);
		/* Where Slurm does not answer, the pilots may live. */
		if ((!st_slurm_alive(c, &alive, &e) && !alive) || st_now_raw() >= until ||
		    interrupted())
			return;
		nanosleep(&pause, NULL);
	}
}
