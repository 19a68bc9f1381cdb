/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gitwalk.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"

struct waiting {
	git_commit *commit;
	uint64_t steps, number; /* number: in the order in which they were found */
};

struct walk {
	const struct st_libgit *git;
	git_repository *repo;
	enum st_vcs_order order;
	ST_VEC(struct waiting) waiting; /* a heap: the next one first */
	ST_VEC(git_oid) seen;
	struct st_hashmap map; /* of seen */
	uint64_t found;
	bool failed; /* memory is exhausted */
};

bool
st_gitwalk_version(const struct st_libgit *git, git_commit *commit, struct st_version *out)
{
	char hex[GIT_OID_HEXSZ + 1];
	const char *subject = git->commit_summary(commit);
	*out = (struct st_version){.time = git->commit_time(commit)};
	out->name = strdup(git->oid_tostr(hex, sizeof hex, git->commit_id(commit)));
	out->tree = strdup(git->oid_tostr(hex, sizeof hex, git->commit_tree_id(commit)));
	out->subject = strdup(subject ? subject : "");
	if (out->name && out->tree && out->subject)
		return true;
	st_version_free(out);
	return false;
}

static bool
walk_before(const struct walk *w, const struct waiting *a, const struct waiting *b)
{
	if (w->order == ST_VCS_NEWEST) {
		git_time_t x = w->git->commit_time(a->commit), y = w->git->commit_time(b->commit);
		if (x != y)
			return x > y;
	}
	return a->number < b->number;
}

static void
walk_exchange(struct waiting *a, struct waiting *b)
{
	struct waiting held = *a;
	*a = *b;
	*b = held;
}

static void
walk_rise(struct walk *w, size_t at)
{
	struct waiting *v = w->waiting.v;
	for (; at && walk_before(w, &v[at], &v[(at - 1) / 2]); at = (at - 1) / 2)
		walk_exchange(&v[at], &v[(at - 1) / 2]);
}

static struct waiting
walk_take(struct walk *w)
{
	struct waiting *v = w->waiting.v, first = v[0];
	size_t n = --w->waiting.n, at = 0;
	v[0] = v[n];
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && walk_before(w, &v[child + 1], &v[child]);
		if (!walk_before(w, &v[child], &v[at]))
			break;
		walk_exchange(&v[at], &v[child]);
	}
	return first;
}

static bool
walk_is_new(struct walk *w, const git_oid *id)
{
	uint32_t hash = st_hash_bytes(id, sizeof *id);
	if (ST_HASHMAP_FIND(&w->map, hash, at, w->git->oid_equal(&w->seen.v[at], id)) !=
	    ST_HASHMAP_NONE)
		return false;
	git_oid *slot = ST_PUSH(&w->seen);
	if (slot)
		*slot = *id;
	w->failed |= !slot || st_hashmap_add(&w->map, hash, (uint32_t)w->seen.n - 1);
	return !w->failed;
}

/* False: the commit is not here. */
static bool
walk_add(struct walk *w, const git_oid *id, uint64_t steps)
{
	git_commit *commit = NULL;
	if (!walk_is_new(w, id))
		return true;
	if (w->git->commit_lookup(&commit, w->repo, id))
		return false;
	struct waiting *slot = ST_PUSH(&w->waiting);
	if (!slot) {
		w->git->commit_free(commit);
		w->failed = true;
		return true;
	}
	*slot = (struct waiting){commit, steps, w->found++};
	walk_rise(w, w->waiting.n - 1);
	return true;
}

static bool
walk_visit(struct walk *w, const struct waiting *next, st_vcs_visit *visit, void *arg)
{
	struct st_version version;
	if (!st_gitwalk_version(w->git, next->commit, &version)) {
		w->failed = true;
		return false;
	}
	unsigned parents = w->git->commit_parentcount(next->commit);
	for (unsigned i = 0; i < parents; i++)
		version.cut |=
		        !walk_add(w, w->git->commit_parent_id(next->commit, i), next->steps + 1);
	bool more = visit(arg, &version, next->steps);
	st_version_free(&version);
	return more;
}

bool
st_gitwalk(const struct st_libgit *git, git_repository *repo, const char *from,
           enum st_vcs_order order, st_vcs_visit *visit, void *arg)
{
	struct walk w = {.git = git, .repo = repo, .order = order};
	git_oid id;
	bool more = !git->oid_fromstr(&id, from) && walk_add(&w, &id, 0);
	while (more && !w.failed && w.waiting.n) {
		struct waiting next = walk_take(&w);
		more = walk_visit(&w, &next, visit, arg);
		git->commit_free(next.commit);
	}
	for (size_t i = 0; i < w.waiting.n; i++)
		git->commit_free(w.waiting.v[i].commit);
	free(w.waiting.v);
	free(w.seen.v);
	st_hashmap_free(&w.map);
	return !w.failed;
}
