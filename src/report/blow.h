/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of a campaign of strobe blow, as text and as JSON. */
#ifndef STROBE_REPORT_BLOW_H
#define STROBE_REPORT_BLOW_H

#include <jansson.h>
#include <stdio.h>

#include "blow/compare.h"
#include "blow/corpus.h"
#include "blow/what_if.h"
#include "report/text.h"

/* Orders of the rows. S(identifier, "word") */
#define ST_BLOW_SORTS(S)                                                                           \
	S(SLOPE, "slope")                                                                          \
	S(FITNESS, "fitness")                                                                      \
	S(SHARE, "share")
enum st_blow_sort {
#define S(id, word) ST_BLOW_BY_##id,
	ST_BLOW_SORTS(S)
#undef S
	        ST_BLOW_SORT_COUNT
};

struct st_blow_view {
	enum st_blow_sort sort;
	size_t top;                    /* rows; 0: all */
	bool threads;                  /* print calls by function and thread */
	bool full;                     /* names are not shortened */
	struct st_blow_wishes *wishes; /* what --what-if asks for; NULL: nothing */
};

/* The chosen functions, in the order of the view. */
struct st_blow_row {
	uint32_t function;
	struct st_blow_finding finding;
	double gain; /* of the first progress point, with a virtual speed-up of 100 %; NAN: not
	                tried */
};
struct st_blow_rows {
	ST_VEC(struct st_blow_row) list;
};
/* The fitness; NAN: there was no experiment that could be judged. */
double st_blow_shown_fitness(const struct st_blow_finding *f);
/* -1: memory is exhausted. The caller frees list.v. */
st_status st_blow_order(const struct st_blow *b, enum st_blow_sort sort, struct st_blow_rows *out);

/* Prints the number of runs, the baseline, a row for each chosen function, faults, and remarks. */
st_status st_blow_text_print(const struct st_blow *b, const struct st_blow_view *view, FILE *out);
/* blow_threads.c: the mean calls of each chosen function in each thread without noise. -1: memory
 * is exhausted. */
st_status st_blow_threads_print(const struct st_blow *b, const struct st_blow_view *view,
                                FILE *out);
/* An array of the threads with what has created them; NULL: memory is exhausted. */
json_t *st_blow_created_json(const struct st_blow *b);
/* An array of threads that call the function; NULL: memory is exhausted. */
json_t *st_blow_threads_json(const struct st_blow *b, uint32_t function);

/* blow_text.c: prints the noise of the run, and the function that has it. */
void st_blow_print_noise(const struct st_blow *b, const struct st_blow_run *r, FILE *out);
/* Prints the names of all functions, then those of the corpus; times: with the mean time of a call.
 */
void st_blow_functions_print(const struct st_blow *b, bool times, FILE *out);
/* The object that docs/json.md describes; NULL: memory is exhausted. */
json_t *st_blow_object(const struct st_blow *b, const struct st_profile *p,
                       const struct st_blow_view *view);
/* Writes it as a document. -1 with *e: memory is exhausted. */
st_status st_blow_json(const struct st_blow *b, const struct st_profile *p,
                       const struct st_blow_view *view, FILE *out, struct st_error *e);

/* blow_points.c: prints what the gain of the point is: "increase of the calls of f per second". */
void st_blow_point_print(const struct st_blow *b, uint32_t point, FILE *out);
/* The kind of a progress point in JSON: "end", "throughput", "metric", "probe", "line" or
 * "latency". */
const char *st_blow_kind_name(const struct st_blow *b, uint32_t point);
/* Prints in a sentence what a function brings at the point if it is faster by the least percentage
 * that was tried, and where its gain bends. The gain is in the terms of the point. */
void st_blow_gain_say(const struct st_blow *b, uint32_t point, uint32_t function, uint64_t percent,
                      const struct st_blow_gain *gain, FILE *out);
void st_blow_bend_say(const struct st_blow *b, uint32_t function, const struct st_blow_bend *bend,
                      FILE *out);
/* Sets tried[p] to whether an experiment without a fault made the function virtually p % faster. */
void st_blow_percents_tried(const struct st_blow *b, uint32_t function, bool tried[101]);
/* Prints the progress points without noise. */
void st_blow_rates_print(const struct st_blow *b, FILE *out);
/* blow_json.c: sets what every list of experiments has of a run: "function", for a calling context
 * also "context", and "noise". Not 0: memory is exhausted. */
int st_blow_experiment_json(const struct st_blow *b, const struct st_blow_run *r, json_t *out);

/* blow_clocks.c: on-CPU time and waiting time apart, as a table of the rows that the view shows,
 * and as members of a target. Nothing is printed without runs that read both clocks. -1: memory is
 * exhausted. */
st_status st_blow_clocks_print(const struct st_blow *b, const struct st_blow_rows *rows,
                               const struct st_blow_view *view, FILE *out);
/* The share of the function's time in which it waits, in percent, as a cell; "-": not known. */
void st_blow_waiting_cell(struct st_table *t, const struct st_blow *b, uint32_t function);
/* Not 0: memory is exhausted. */
int st_blow_clocks_json(const struct st_blow *b, const struct st_blow_row *r, json_t *target);
/* blow_text.c: a cell with the name of a function, shortened unless `full`. */
void st_blow_name_cell(struct st_table *t, const char *name, bool full);
/* blow_json.c: a slope with its interval; NULL: memory is exhausted. */
json_t *st_blow_slope_json(const struct st_blow_slope *s);

/* blow_again.c: an experiment that was made again. */
struct st_blow_again_runs {
	size_t number; /* of the experiment */
	ST_VEC(struct st_blow_run) list;
};
void st_blow_again_print(const struct st_blow *b, const struct st_blow_again_runs *runs, FILE *out);
/* The document that docs/json.md describes. NULL: memory is exhausted. */
json_t *st_blow_again_json(const struct st_blow *b, const struct st_blow_again_runs *runs);

/* blow_state.c: the functions that are best so far. */
enum { ST_BLOW_BEST = 5 };
struct st_blow_best {
	uint32_t function;
	double value, low, high; /* slope, or gain at 100 % at the first progress point; fitness of
	                            a speed-up, which has no interval (NAN) */
};
/* Fills in at most ST_BLOW_BEST, and returns their number. If memory is exhausted, there are fewer.
 */
size_t st_blow_best_rows(const struct st_blow *b, struct st_blow_best *out);
/* Prints the state of a campaign on one line, without its end. */
void st_blow_state_print(const struct st_blow *b, const struct st_blow_state *s,
                         const struct st_blow_best *best, size_t n, FILE *out);
/* The object that docs/json.md describes; NULL: memory is exhausted. */
json_t *st_blow_state_json(const struct st_blow *b, const struct st_blow_state *s,
                           const struct st_blow_best *best, size_t n);

/* blow_curves.c: lines through the experiments of functions. */
struct st_blow_dot {
	double x, y, low, high; /* low and high: the 95 % interval of y; NAN: none */
};
struct st_blow_line {
	uint32_t function, thread; /* thread: ST_BLOW_NONE: all together */
	size_t first, n;           /* points, by x */
};
struct st_blow_curves {
	const char *x, *y, *note; /* what the axes are, and what a reader must know */
	double zero;              /* x and y without noise, which is one of the points */
	ST_VEC(struct st_blow_line) lines;
	ST_VEC(struct st_blow_dot) points;
};
/* The lines of the functions that `of` matches (NULL: all), in the order of their slopes or gains,
 * at most `most`. In causal mode, y is the gain at the progress point. The caller frees *out also
 * on failure. -1: memory is exhausted. */
st_status st_blow_curves_make(const struct st_blow *b, uint32_t point, const char *of, size_t most,
                              struct st_blow_curves *out);
/* Leaves out points whose x is greater, and lines without an experiment then. */
void st_blow_curves_cut(struct st_blow_curves *c, double most);
void st_blow_curves_free(struct st_blow_curves *c);
/* All lines, in causal mode for each progress point. NULL: memory is exhausted. */
json_t *st_blow_curves_json(const struct st_blow *b);

/* blow_timeline.c: the recorded experiment and its calls; b has a timeline. NULL: memory is
 * exhausted. */
json_t *st_blow_timeline_json(const struct st_blow *b);

/* blow_compare.c: how two campaigns rank the functions; b is the first one. -1: memory is
 * exhausted. */
st_status st_blow_compare_print(const struct st_blow *b, const struct st_blow_comparison *c,
                                const struct st_blow_view *view, FILE *out);
/* The object that docs/json.md describes. NULL: memory is exhausted. */
json_t *st_blow_compare_object(const struct st_blow *b, const struct st_blow_comparison *c);
/* Writes it as a document. -1 with *e: memory is exhausted. */
st_status st_blow_compare_json(const struct st_blow *b, const struct st_blow_comparison *c,
                               FILE *out, struct st_error *e);

/* blow_note.c: prints the cause that the note of a run has, and with `stacks` also the threads and
 * their stacks. Returns whether it has left out stacks. note: may be NULL. */
bool st_blow_note_print(const char *note, bool stacks, FILE *out);
/* Adds the members `cause` and `stacks` to the fault. Not 0: memory is exhausted. */
int st_blow_note_json(const char *note, json_t *fault);

/* blow_what_if.c: the forecasts for what --what-if asks for, whose functions were found. */
st_status st_blow_what_if_print(const struct st_blow *b, const struct st_blow_wishes *w, FILE *out);
/* NULL: memory is exhausted. */
json_t *st_blow_what_if_json(const struct st_blow *b, const struct st_blow_wishes *w);

#endif
