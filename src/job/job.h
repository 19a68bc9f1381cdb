/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs: what is to be measured again and again, as a file that belongs to the project. A job is
 * commands x arguments x workloads x collectors, each repeated; docs/jobs.md describes the file.
 */
#ifndef STROBE_JOB_JOB_H
#define STROBE_JOB_JOB_H

#include <sched.h>

#include "base/vec.h"
#include "job/yamlfile.h"

#define ST_JOB_FILE ".strobe/job.yaml"
enum { ST_JOB_MOST_WORDS = 1024 };

/* Generators of workloads: G(identifier, "name"). */
#define ST_GENERATORS(G)                                                                           \
	G(INTEGER, "integer")                                                                      \
	G(STRING, "string")                                                                        \
	G(TEXTFILE, "textfile")                                                                    \
	G(SINGLETON, "singleton")                                                                  \
	G(EXTERNAL, "external")

enum st_generator_kind {
#define G(id, name) ST_GENERATOR_##id,
	ST_GENERATORS(G)
#undef G
};

/* Texts are of the job's file. */
struct st_generator {
	enum st_generator_kind kind;
	const yaml_node_t *at; /* in the file, for messages */
	const char *name;      /* that its workloads begin with */
	long least, most, step;
	long row_least, row_most; /* of a text file: characters of a line */
	bool random_rows;         /* each line of another length, else all have row_most */
	const char *value;        /* of a singleton */
	const char *size;         /* of a singleton, or NULL */
	const char *program, *format;
	bool to_stdin; /* the program reads it from standard input, instead of its arguments */
};

struct st_job_collector {
	const char *name;    /* a command of strobe, or a program */
	const char *options; /* one set of its parameters */
	bool built_in;
};

struct st_job {
	struct st_yaml yaml;
	char *bytes; /* of the file: what results depend on */
	size_t n_bytes;
	ST_VEC(const char *) build, before, commands, arguments, postprocess;
	ST_VEC(struct st_generator) generators;
	ST_VEC(struct st_job_collector) collectors;
	long repeat;
	double timeout;  /* of a run, s; 0: none */
	const char *cpu; /* a list, or NULL */
	cpu_set_t cpus;
	bool keep_aslr;
};

/* Reads a job's file. 0, or -1 with *e. The caller frees in both cases. */
st_status st_job_read(struct st_job *j, const char *path, struct st_error *e);
/* The same of bytes in memory, which are copied. */
st_status st_job_of_bytes(struct st_job *j, const char *path, const char *bytes, size_t n,
                          struct st_error *e);
void st_job_free(struct st_job *j);

/* The words of a text with quotes as in a shell, malloc'ed in one piece and NULL-terminated; NULL:
 * a quote is not closed, there are too many words, or memory is exhausted. */
char **st_job_words(const char *text);

/* The example that strobe job init writes, and its command. */
extern const char st_job_example[];
#define ST_JOB_EXAMPLE_COMMAND "/bin/true"

#endif
