/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same history of five versions in three systems: git, a linear system that exists here only,
 * and the counter of a folder without version control. The store finds each profile from its
 * version and from no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "profile/profile.h"
#include "store/history.h"
#include "store/store.h"
#include "store/vcs.h"

enum { VERSIONS = 5 };

/* ---- a version control system whose versions are r1, r2, ... ---- */

static struct {
	bool used;
	unsigned n; /* of versions */
	const char *root;
} linear;

static void
linear_version(unsigned number, struct st_version *out)
{
	*out = (struct st_version){.name = st_text_of("r%u", number),
	                           .tree = st_text_of("t%u", number),
	                           .subject = st_text_of("version %u", number),
	                           .time = 1600000000 + number};
}

static bool
linear_empty(struct st_vcs *v)
{
	(void)v;
	return !linear.n;
}

static st_status
linear_head(struct st_vcs *v, struct st_version *out, struct st_error *e)
{
	(void)v, (void)e;
	linear_version(linear.n, out);
	return ST_OK;
}

static st_status
linear_resolve(struct st_vcs *v, const char *rev, struct st_version *out, struct st_error *e)
{
	unsigned number = 0;
	if (!strcmp(rev, "HEAD"))
		return linear_head(v, out, e);
	if (sscanf(rev, "r%u", &number) != 1 || !number || number > linear.n)
		return st_fail(e, ST_EXIT_USAGE, "no version %s", rev);
	linear_version(number, out);
	return ST_OK;
}

static st_status
linear_walk(struct st_vcs *v, const char *from, enum st_vcs_order order, st_vcs_visit *visit,
            void *arg, struct st_error *e)
{
	unsigned number = 0;
	bool more = sscanf(from, "r%u", &number) == 1;
	(void)v, (void)order, (void)e;
	for (uint64_t steps = 0; more && number; steps++, number--) {
		struct st_version version;
		linear_version(number, &version);
		more = visit(arg, &version, steps);
		st_version_free(&version);
	}
	return ST_OK;
}

static bool
linear_reaches(struct st_vcs *v, const char *name, const char *ancestor)
{
	(void)v;
	return atoi(name + 1) >= atoi(ancestor + 1);
}

static st_status
linear_patch(struct st_vcs *v, const char *name, char **out, struct st_error *e)
{
	(void)v, (void)e;
	*out = st_text_of("p%s", name);
	return ST_OK;
}

static char *
linear_branch(struct st_vcs *v)
{
	(void)v;
	return strdup("trunk");
}

static bool
linear_dirty(struct st_vcs *v)
{
	(void)v;
	return false;
}

static void
linear_close(struct st_vcs *v)
{
	free(v->data);
	free(v->root);
	free(v);
}

static const struct st_vcs_kind linear_kind = {
        .name = "linear",
        .title = "revision",
        .empty = linear_empty,
        .head = linear_head,
        .resolve = linear_resolve,
        .walk = linear_walk,
        .reaches = linear_reaches,
        .patch = linear_patch,
        .branch = linear_branch,
        .dirty = linear_dirty,
        .close = linear_close,
};

/* The linker puts them in the place of st_vcs_git, and keeps that (--wrap). */
st_status __real_st_vcs_git(struct st_vcs **out, struct st_error *e);
st_status __wrap_st_vcs_git(struct st_vcs **out, struct st_error *e);

st_status
__wrap_st_vcs_git(struct st_vcs **out, struct st_error *e)
{
	if (!linear.used)
		return __real_st_vcs_git(out, e);
	*out = calloc(1, sizeof **out);
	assert_non_null(*out);
	**out = (struct st_vcs){.kind = &linear_kind,
	                        .data = st_text_of("%s/.strobe", linear.root),
	                        .root = strdup(linear.root)};
	return ST_OK;
}

/* ---- the script ---- */

struct project {
	char folder[64];
	void (*begin)(void);
	void (*next)(unsigned number); /* makes a version */
	const char *kind;
};

static void
run(const char *command)
{
	assert_int_equal(system(command),
	                 0); /* NOLINT(cert-env33-c): constant texts of this file */
}

static void
git_begin(void)
{
	run("git init -q -b main . && git config user.email a@example.org && git config user.name "
	    "A");
}

static void
git_next(unsigned number)
{
	FILE *f = fopen("file", "w");
	assert_non_null(f);
	fprintf(f, "%u\n", number);
	assert_int_equal(fclose(f), 0);
	run("git add file && git commit -q -m version");
}

static void
linear_begin(void)
{
	linear.used = true;
	linear.n = 0;
}

static void
linear_next(unsigned number)
{
	linear.n = number;
}

static void
counter_begin(void)
{
	linear.used = false;
}

static void
counter_next(unsigned number)
{
	(void)number; /* strobe add makes it */
}

/* A profile that differs from all others by the time of its begin. */
static void
make_profile(const char *path, unsigned number)
{
	struct st_error e;
	struct st_profile *p = st_profile_new();
	assert_non_null(p);
	p->run.start_ns = 1600000000000000000 + number;
	p->run.tool = "bbcount";
	p->run.options = p->run.strobe_version = p->run.cwd = p->run.host = p->run.machine =
	        p->run.kernel = p->run.cpu = "";
	if (st_profile_save(p, path, &e))
		fail_msg("%s", e.text);
	st_profile_free(p);
}

static void
check_version(struct st_store *s, const char *rev, const struct st_hash *hash)
{
	struct st_error e;
	struct st_version v;
	struct st_stored_list l = {0};
	if (st_store_version(s, rev, &v, &e) || st_store_of_version(s, &v, &l, &e))
		fail_msg("%s: %s", rev, e.text);
	assert_int_equal(l.v.n, 1);
	assert_memory_equal(&l.v.v[0].hash, hash, sizeof *hash);
	assert_int_equal(l.v.v[0].link, ST_LINK_VERSION);
	st_stored_list_free(&l);
	st_version_free(&v);
}

static void
check_history(struct st_store *s, char names[VERSIONS][65])
{
	struct st_error e;
	struct st_history h;
	assert_int_equal(st_history_read(s, "HEAD", 0, false, &h, &e), ST_OK);
	assert_int_equal(h.v.n, VERSIONS);
	assert_true(h.whole);
	for (size_t i = 0; i < VERSIONS; i++) {
		assert_string_equal(h.v.v[i].version.name, names[VERSIONS - 1 - i]);
		assert_int_equal(h.v.v[i].profiles, 1);
		assert_false(h.v.v[i].gone);
	}
	st_history_free(&h);
}

static void
check_project(struct project *p)
{
	char old[4096], names[VERSIONS][65];
	struct st_hash hashes[VERSIONS];
	struct st_error e;
	struct st_store s;
	bool made;
	assert_non_null(getcwd(old, sizeof old));
	strcpy(p->folder, "/tmp/strobe-vcs-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	assert_int_equal(chdir(p->folder), 0);
	linear.root = p->folder;
	p->begin();
	if (st_store_create(&s, &made, &e))
		fail_msg("%s", e.text);
	assert_true(made);
	assert_string_equal(s.vcs->kind->name, p->kind);
	for (unsigned i = 0; i < VERSIONS; i++) {
		struct st_version v;
		struct st_addition a = {.file = "p.db"};
		p->next(i + 1);
		make_profile("p.db", i);
		if (st_store_add(&s, &a, 1, NULL, &v, &e))
			fail_msg("%s", e.text);
		assert_string_equal(a.of, v.name);
		memcpy(names[i], a.of, sizeof names[i]);
		hashes[i] = a.hash;
		st_version_free(&v);
	}
	for (unsigned i = 0; i < VERSIONS; i++)
		check_version(&s, names[i], &hashes[i]);
	check_version(&s, "HEAD", &hashes[VERSIONS - 1]);
	check_history(&s, names);
	struct st_version none;
	assert_int_not_equal(st_store_version(&s, "r99", &none, &e), ST_OK);
	st_store_close(&s);
	assert_int_equal(chdir(old), 0);
	char *clean = st_text_of("rm -rf %s", p->folder);
	run(clean);
	free(clean);
}

static void
test_git(void **state)
{
	(void)state;
	linear.used = false;
	check_project(&(struct project){.begin = git_begin, .next = git_next, .kind = "git"});
}

static void
test_linear(void **state)
{
	(void)state;
	check_project(
	        &(struct project){.begin = linear_begin, .next = linear_next, .kind = "linear"});
}

static void
test_counter(void **state)
{
	(void)state;
	check_project(
	        &(struct project){.begin = counter_begin, .next = counter_next, .kind = "counter"});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_git),
	        cmocka_unit_test(test_linear),
	        cmocka_unit_test(test_counter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
