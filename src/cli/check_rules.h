/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The methods of strobe check, and the rules by which a project chooses them: each rule has
 * conditions on the pair of profiles that is compared, and the methods of pairs that meet them.
 * strobe-check(1) describes the file.
 */
#ifndef STROBE_CLI_CHECK_RULES_H
#define STROBE_CLI_CHECK_RULES_H

#include "base/vec.h"
#include "check/check.h"
#include "job/projectfile.h"
#include "job/yamlfile.h"

#define ST_CHECK_FILE ".strobe/check.yaml"

/* The metric of the functions that strobe trace has timed. */
#define ST_CHECK_TRACED "exclusive time"

/* Several methods, each once. */
struct st_check_method_list {
	enum st_check_method v[ST_CHECK_METHOD_COUNT];
	size_t rules[ST_CHECK_METHOD_COUNT]; /* the rule that chose it, from 1; 0: none */
	size_t n;
};
void st_check_method_add(struct st_check_method_list *l, enum st_check_method method, size_t rule);

/* C(identifier, "key"): the conditions that are shell patterns. collector, command and workload
 * are those of all profiles; feature and metric are those of a series or function of both sides. */
#define ST_CHECK_CONDITIONS(C)                                                                     \
	C(COLLECTOR, "collector")                                                                  \
	C(COMMAND, "command")                                                                      \
	C(WORKLOAD, "workload")                                                                    \
	C(FEATURE, "feature")                                                                      \
	C(METRIC, "metric")
enum st_check_condition {
#define C(id, key) ST_CHECK_IF_##id,
	ST_CHECK_CONDITIONS(C)
#undef C
	        ST_CHECK_CONDITION_COUNT
};

struct st_check_rule {
	const char *patterns[ST_CHECK_CONDITION_COUNT]; /* NULL: anything */
	long profiles; /* each side has at least this many; 0: any number */
	struct st_check_method_list methods;
};

/* Owns the texts of its rules. */
struct st_check_rules {
	struct st_project_file file;
	struct st_yaml yaml;
	bool all; /* apply all rules that fit, otherwise only the first */
	ST_VEC(struct st_check_rule) v;
};

/* Reads the rules of a file; path NULL: those of the project around the current folder, if it has
 * some. 0, or -1 with *e. The caller frees in both cases. */
st_status st_check_rules_read(struct st_check_rules *r, const char *path, struct st_error *e);
/* The same of bytes in memory. */
st_status st_check_rules_of_bytes(struct st_check_rules *r, const char *path, const char *bytes,
                                  size_t n, struct st_error *e);
void st_check_rules_free(struct st_check_rules *r);

/* Profiles of one side. */
struct st_check_profiles {
	struct st_profile *const *v;
	size_t n;
};

/* Adds the methods of the rules that fit the pair; none, if no rule fits. ST_FAILED: memory is
 * exhausted. */
st_status st_check_rules_choose(const struct st_check_rules *r,
                                const struct st_check_profiles sides[ST_SIDES],
                                struct st_check_method_list *out);

#endif
