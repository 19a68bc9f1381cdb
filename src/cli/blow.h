/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arguments of strobe blow. */
#ifndef STROBE_CLI_BLOW_H
#define STROBE_CLI_BLOW_H

#include <limits.h>

#include "annotate/annotation.h"
#include "batch/batch.h"
#include "blow/locations.h"
#include "blow/points.h"
#include "report/blow.h"
#include "session/session.h"

enum st_blow_form { ST_BLOW_DB, ST_BLOW_TEXT, ST_BLOW_JSON };

struct st_blow_arguments {
	struct st_session session; /* the program, and patterns of functions */
	struct st_trace_request request, callers;
	struct st_session caller_session; /* of `callers` */
	struct st_blow_points points;
	struct st_blow_locations locations;
	struct st_blow_wishes wishes;
	const char *corpus, *models_file; /* files; NULL: none */
	struct st_ann_file models;
	ST_VEC(struct st_blow_complexity) complexities; /* of functions with models */
	struct st_blow_options options;
	struct st_blow_view view;
	long pid;      /* of a running process; 0: a program is run */
	double window; /* seconds; 0: not given */
	struct st_blow_live *live;
	char **command;      /* of the process; owned, as its first element is */
	const char *stopped; /* the last option that windows do not have; NULL: none was given */
	const char *journal, *state, *from, *compared, *output;
	const char *timeline; /* the function of --timeline; NULL: any */
	const char *asked;    /* the last option for campaigns; NULL: none was given */
	const char *ran;      /* the last one that --again takes, too; NULL: none was given */
	bool makes_again;     /* --again was given */
	size_t again;         /* number of an experiment */
	enum st_blow_form form;
	const char *noisy;   /* the last option for noise; NULL: none was given */
	const char *typed;   /* of these, the last one for types and strengths */
	const char *sampled; /* --sampling; NULL: it was not given */
	uint32_t added;      /* criteria that options add to --criteria, as bits */
	bool has_criteria;   /* --criteria or an option that adds to it was given */
	bool has_form, repeats, all, shows, shows_time, quiet, help;
	struct st_batch_place place;
	const char *experiment, *reference; /* of a worker; NULL: not given */
	char program[PATH_MAX];             /* the file of the program itself */
};

/* 0, or -1 with *e. The caller frees in any case. */
st_status st_blow_parse(struct st_blow_arguments *a, char *const *argv, struct st_error *e);
/* blow_corpus.c: the options that choose functions. */
/* Takes the list of --criteria, which replaces the default one. */
st_status st_blow_take_criteria(struct st_blow_arguments *a, const char *value, struct st_error *e);
/* Adds a criterion to those of --criteria, wherever that stands in the command line. */
void st_blow_add_criterion(struct st_blow_arguments *a, enum st_blow_criterion which);
/* Reads the files of --corpus and --complexity, if they were given. */
st_status st_blow_read_corpus(struct st_blow_arguments *a, struct st_error *e);
/* blow_targets.c: the targets of experiments. */
/* Takes the list of --by. */
st_status st_blow_take_by(struct st_blow_arguments *a, const char *value, struct st_error *e);
/* Checks --at and --by with regard to other options, and has the options of the run take them over.
 */
st_status st_blow_check_targets(struct st_blow_arguments *a, struct st_error *e);
/* Chooses the functions that count as callers. */
st_status st_blow_choose_callers(struct st_blow_arguments *a, struct st_error *e);
/* Fails if a location of --at is not in the program, was not executed, or takes no probe. */
st_status st_blow_check_location_names(const struct st_blow *b, const struct st_blow_arguments *a,
                                       struct st_error *e);
/* The kinds of targets, for the result. */
void st_blow_targets_text(const struct st_blow_arguments *a, char *text, size_t room);
/* blow_arguments.c: adds the file that the process of --pid executes to the images. */
st_status st_blow_own_image(struct st_blow_arguments *a, struct st_region *r, struct st_error *e);
/* blow_settings.c: puts the options that make a campaign, with their values, into its profile. */
void st_blow_settings_put(const struct st_blow_arguments *a, struct st_profile *p);
/* blow_clocks.c: says which of the program's clocks --hide-pauses cannot change, as far as its code
 * tells. */
void st_blow_say_unhidden(const struct st_blow_arguments *a);
/* blow_again.c: makes an experiment of an earlier campaign again. 0, or -1 with *e. */
st_status st_blow_make_again(struct st_blow_arguments *a, struct st_error *e);
/* blow_far.c: runs that workers make. */
struct st_blow_far;
/* Refuses options that cannot be used with --on. 0, or -1 with *e. */
st_status st_blow_far_check(const struct st_blow_arguments *a, struct st_error *e);
/* Begins the campaign, and sets the functions in a->options that hand the runs to workers. argv: of
 * the command. NULL with *e. */
struct st_blow_far *st_blow_far_begin(struct st_blow_arguments *a, char *const *argv,
                                      struct st_error *e);
/* Notes in the profile which workers have made the runs. -1: memory is exhausted. */
st_status st_blow_far_note(const struct st_blow_far *f, struct st_profile *p);
/* Ends the campaign. complete: all runs were made; otherwise prints how to resume it. */
void st_blow_far_end(struct st_blow_far *f, bool complete);
/* Makes the run of --experiment, and writes it to the file of --output. */
st_status st_blow_far_work(const struct st_blow_arguments *a, struct st_error *e);
void st_blow_arguments_free(struct st_blow_arguments *a);

#endif
