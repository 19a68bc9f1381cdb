/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the files by which a finding is checked again later: a contract with the script that makes
 * its records, and a job file with the family of inputs as its workloads, which strobe job and
 * strobe gate execute.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/words.h"
#include "fuzz/output.h"

/* Evenly spaced sizes make a contract on growth most sensitive. */
enum { MOST_SIZES = 24, MOST_STEPS = 100, MOST_CASES = 6 };

static const double case_work = 2e7; /* blocks of the largest input: a tenth of a second */
/* The same if the family has fewer than MOST_SIZES smaller inputs. */
static const double most_case_work = 2e8;

struct fuzzcase {
	const struct st_finding *f;
	const struct st_fuzz_target *target;
	char name[128];   /* of the function in the contract */
	char *here;       /* the finding's folder */
	size_t step, n;   /* sizes: step, 2 step, ... n step */
	double most_work; /* of the largest */
};

/* ---- sizes and names ---- */

static void
fuzzcase_choose_sizes(struct fuzzcase *k)
{
	const struct st_finding *f = k->f;
	size_t at = 0;
	while (at + 1 < f->times.n && f->worked.v[at + 1] <= case_work)
		at++;
	const size_t largest = (size_t)f->times.v[at];
	k->step = largest > MOST_SIZES ? largest / MOST_SIZES : 1;
	k->n = largest > MOST_SIZES ? MOST_SIZES : largest;
	if (f->law.form == ST_LAW_EXPONENTIAL) { /* all of the growth is at its end */
		k->step = (largest + MOST_STEPS - 1) / MOST_STEPS;
		k->n = largest / k->step;
	}
	k->most_work = f->worked.v[at];
	/* Few records cannot show that a contract on growth is broken. If the repeated part is
	 * long, the records have more repetitions than the family: as many as the law allows. */
	if (f->law.form != ST_LAW_POWER || largest >= MOST_SIZES ||
	    k->target->channel == ST_CHANNEL_ARGUMENT || k->most_work > most_case_work)
		return;
	const double more = pow(most_case_work / k->most_work, 1 / fmax(f->law.of.high, 1));
	k->n = (size_t)fmin((double)largest * more, MOST_SIZES);
}

/* A name that needs no quotes in a contract and in a shell; otherwise that of the program. */
static void
fuzzcase_choose_name(struct fuzzcase *k)
{
	const char *const names[] = {k->f->function.name, st_base_name(k->target->argv[0])};
	snprintf(k->name, sizeof k->name, "program");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *at = names[i];
		while (at && (isalnum((unsigned char)*at) || (*at && strchr("_:", *at))))
			at++;
		if (at && !*at && at != names[i] && !isdigit((unsigned char)*names[i]) &&
		    (size_t)(at - names[i]) < sizeof k->name) {
			snprintf(k->name, sizeof k->name, "%s", names[i]);
			return;
		}
	}
}

/* ---- the command ---- */

/* The program with its arguments; `input` takes the place of @@. */
static void
put_command(const struct fuzzcase *k, const char *input, FILE *out)
{
	for (size_t i = 0; k->target->argv[i]; i++) {
		fputs(i ? " " : "", out);
		if (k->target->channel != ST_CHANNEL_STDIN && i == k->target->at)
			fputs(input, out);
		else
			st_shell_quote(out, k->target->argv[i]);
	}
}

/* ---- files ---- */

static void
put_contract(const struct fuzzcase *k, FILE *out)
{
	fprintf(out,
	        "# sh records.sh > records.csv\n"
	        "# strobe annotate --contracts contract.txt records.csv -m blocks --function %s\n"
	        "# The blocks are those of the whole program.\n",
	        k->name);
	if (k->f->law.form == ST_LAW_EXPONENTIAL)
		fprintf(out,
		        "# The growth is exponential: the bound is half of the work of the "
		        "largest input.\n"
		        "blocks(%s) <= %.0f\n",
		        k->name, k->most_work / 2);
	else
		fprintf(out, "blocks(%s) ~ n*log(n)\n", k->name);
}

static void
put_records(const struct fuzzcase *k, FILE *out)
{
	const bool argument = k->target->channel == ST_CHANNEL_ARGUMENT;
	fprintf(out, "#!/bin/sh\n"
	             "# usage: records.sh > records.csv, in the folder in which the program runs: "
	             "counts the blocks that it executes\n"
	             "command -v \"${STROBE:-strobe}\" > /dev/null || {\n"
	             "\techo 'records.sh: no strobe in PATH: set STROBE to its path' >&2\n"
	             "\texit 127\n"
	             "}\n"
	             "here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n"
	             "scratch=$(mktemp -d) || exit 1\n"
	             "trap 'rm -rf \"$scratch\"' EXIT\n"
	             "echo n,blocks\n"
	             "n=0\n");
	fprintf(out, "while [ $n -lt %zu ]; do\n\tn=$((n + %zu))\n", k->n * k->step, k->step);
	fputs("\t\"$here/generate.sh\" $n > \"$scratch/input\"\n"
	      "\t\"${STROBE:-strobe}\" run -q -t bbcount --format json -o \"$scratch/result\" -- ",
	      out);
	put_command(k, argument ? "\"$(cat \"$scratch/input\")\"" : "\"$scratch/input\"", out);
	fputs(" < \"$scratch/input\" > /dev/null 2> \"$scratch/errors\"\n"
	      "\tblocks=$(sed -n 's/^ \"blocks\": \\([0-9]*\\).*/\\1/p' \"$scratch/result\" "
	      "2> /dev/null)\n"
	      "\tif [ -z \"$blocks\" ]; then\n"
	      "\t\techo \"records.sh: nothing was counted for n = $n:\" >&2\n"
	      "\t\ttail -n 3 \"$scratch/errors\" >&2\n"
	      "\t\texit 1\n"
	      "\tfi\n"
	      "\techo \"$n,$blocks\"\n"
	      "\trm \"$scratch/result\"\n"
	      "done\n",
	      out);
}

static void
put_family(const struct fuzzcase *k, FILE *out)
{
	fputs("#!/bin/sh\n"
	      "# usage: family.sh FOLDER: writes inputs of growing size into the folder\n"
	      "here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n"
	      "for n in",
	      out);
	for (size_t i = 1; i <= MOST_CASES; i++) {
		const size_t size = k->n * i / MOST_CASES * k->step;
		if (size > k->n * (i - 1) / MOST_CASES * k->step)
			fprintf(out, " %zu", size);
	}
	fputs("; do\n\t\"$here/generate.sh\" $n > \"$1/repetitions-$n\" || exit 1\ndone\n", out);
}

/* As a YAML scalar in single quotes. */
static void
put_yaml_text(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static char *
command_text(const struct fuzzcase *k)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out)
		put_command(k, "{workload}", out);
	return st_text_end(&text);
}

static char *
generator_text(const struct fuzzcase *k)
{
	struct st_text text;
	FILE *out = st_text_begin(&text);
	if (out) {
		st_shell_quote(out, k->here);
		fputs("/family.sh", out);
	}
	return st_text_end(&text);
}

static void
put_job(const struct fuzzcase *k, FILE *out)
{
	char *command = command_text(k), *generator = generator_text(k);
	fputs("# A job for strobe job run --file, and, as .strobe/job.yaml, benchmarks for strobe "
	      "gate.\ncommands:\n  - ",
	      out);
	put_yaml_text(out, command ? command : "");
	fputs("\nworkloads:\n  - external:\n      program: ", out);
	put_yaml_text(out, generator ? generator : "");
	fputs("\n      format: repetitions-{size}\n", out);
	if (k->target->channel == ST_CHANNEL_STDIN)
		fputs("      stdin: true\n", out);
	fputs("collectors:\n  - run: -t bbcount\n", out);
	free(command);
	free(generator);
}

static st_status
fuzzcase_write(const struct fuzzcase *k, const char *name,
               void (*put)(const struct fuzzcase *k, FILE *out), mode_t mode, struct st_error *e)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/%s", k->here, name);
	FILE *out = fopen(path, "we");
	if (out)
		put(k, out);
	if (!out || fclose(out) || chmod(path, mode))
		return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	return ST_OK;
}

st_status
st_fuzz_write_cases(const char *folder, const struct st_fuzz_campaign *c,
                    const struct st_finding *f, struct st_error *e)
{
	struct fuzzcase k = {.f = f, .target = c->target};
	if (!f->has_family || !f->times.n)
		return ST_OK;
	k.here = realpath(folder, NULL);
	if (!k.here)
		return st_fail(e, ST_EXIT_FAILED, "cannot use %s: %s", folder, strerror(errno));
	fuzzcase_choose_sizes(&k);
	fuzzcase_choose_name(&k);
	st_status status = fuzzcase_write(&k, "contract.txt", put_contract, 0644, e);
	if (!status)
		status = fuzzcase_write(&k, "records.sh", put_records, 0755, e);
	/* An argument is no file, and workloads of a generator are files. */
	const bool files = c->target->channel != ST_CHANNEL_ARGUMENT;
	if (!status && files)
		status = fuzzcase_write(&k, "family.sh", put_family, 0755, e);
	if (!status && files)
		status = fuzzcase_write(&k, "job.yaml", put_job, 0644, e);
	free(k.here);
	return status;
}
