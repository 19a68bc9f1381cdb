/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The region of interest: options that say when and where tools are at work, and the functions that
 * they and the tools name. */
#ifndef STROBE_SESSION_REGION_H
#define STROBE_SESSION_REGION_H

#include "base/nearest.h"
#include "base/status.h"
#include "control/run.h"
#include "profile/profile.h"
#include "session/toolset.h"
#include "symbol/symbol.h"

/* Each is tried on each function of each image. */
enum { ST_MOST_PATTERNS = 10000 };

/* What --toggle takes. */
#define ST_TOGGLE_SIGNALS(S) S(SIGUSR1) S(SIGUSR2) S(SIGHUP) S(SIGQUIT)

struct st_patterns {
	const char **text; /* malloc'ed, as their array */
	size_t n, room;
	uint64_t *matched; /* functions or images that each of them fits */
};

struct st_region_image {
	char *path;
	struct st_image *image; /* NULL: it cannot be read */
};

struct st_region {
	struct st_patterns start_at, stop_at, functions, images;
	struct st_patterns scope,
	        excluded;     /* functions that only a tool looks for, by its options */
	double delay, length; /* seconds; 0: none */
	int toggle;           /* signal, or 0 */
	const char *threads;  /* NULL: all */
	bool by_program;
	bool own; /* `images` has the program; what its process executes is added to it */
	bool own_of_children; /* and what its children execute */
	bool marks; /* functions and images are only told to the tools, all code is measured */
	const struct st_toolset *tools; /* whose functions are wanted */
	uint64_t matched[ST_MAX_TOOLS]; /* how many there were, by the tools' numbers */
	struct st_region_image *opened; /* images that have been looked at */
	size_t n_opened;
};

/* Adds the names and shell patterns of an option's value, which have commas between them. A comma
 * within brackets, as names of C++ have it, is part of a name. 0, or -1 with *e. */
st_status st_patterns_add(struct st_patterns *p, const char *option, const char *value,
                          struct st_error *e);
/* Adds the path of an image as it is. */
st_status st_patterns_add_path(struct st_patterns *p, const char *option, const char *path,
                               struct st_error *e);
void st_patterns_free(struct st_patterns *p);

/* The options of st_command tables that this takes, in terms of struct st_region. Each returns 0,
 * or -1 with *e. */
/* "5s", "100ms", "2m", or seconds. */
st_status st_region_time(double *seconds, const char *option, const char *value,
                         struct st_error *e);
st_status st_region_signal(int *signo, const char *value, struct st_error *e);
/*
 * Words with commas between them: numbers of threads in the order of their birth, from 0, and
 * ranges of them (3-5); tid:N, the kernel's number; names, in which * stands for anything.
 */
st_status st_region_threads(const char **list, const char *value, struct st_error *e);

/* Puts it into the options of a run. */
void st_region_apply(struct st_region *r, const struct st_toolset *tools,
                     struct st_run_options *options);
/* After the run: notes in the profile what never began, or fitted nothing. The name of an option
 * that nothing in the program fits, so that nothing was measured; NULL: there is none. */
const char *st_region_note(struct st_region *r, const struct st_run *run, struct st_profile *p)
        __attribute__((warn_unused_result));
/* The option whose names fit nothing, so that nothing was measured; NULL: there is none. threads:
 * there were threads that were to be measured. */
const char *st_region_fits_nothing(const struct st_region *r, bool threads);
/* region_unknown.c: the part of it about names. */
void st_region_note_unknown(struct st_region *r, struct st_profile *p);
/* Begins a search for functions with names like the word. It is strict, because among thousands of
 * names one is always a little like it. */
struct st_nearest_few st_region_near(const char *word);
/* Looks at the functions of all images; file: only those of a source file, NULL: all. */
void st_region_try_functions(const struct st_region *r, const struct st_file_pattern *file,
                             struct st_nearest_few *near);
/* region_tools.c: that about what tools list, and what else they ask for. */
void st_region_note_lists(const struct st_region *r, const struct st_run *run,
                          struct st_profile *p);
void st_region_note_asked(const struct st_region *r, const struct st_run *run,
                          struct st_profile *p);
/* Whether functions of the image may be chosen, by its path: it fits a pattern, or none was given.
 */
bool st_region_chooses_image(struct st_region *r, const char *path);
/* An image, opened once; NULL: it cannot be read. */
struct st_image *st_region_image(struct st_region *r, const char *path);
void st_region_free(struct st_region *r);

#endif
