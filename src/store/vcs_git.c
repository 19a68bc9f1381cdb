/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The versions of a git repository. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/gitfolder.h"
#include "store/gitwalk.h"
#include "store/libgit.h"
#include "store/vcs.h"

struct vcs_git {
	struct st_vcs vcs;
	const struct st_libgit *git;
	git_repository *repo;
};

void
st_version_free(struct st_version *v)
{
	free(v->name);
	free(v->tree);
	free(v->subject);
	*v = (struct st_version){0};
}

static struct vcs_git *
gitvcs_of(struct st_vcs *v)
{
	return (struct vcs_git *)v;
}

static st_status
gitvcs_out_of_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left to read the repository");
}

static st_status
gitvcs_resolve_to(struct st_vcs *v, const char *rev, struct st_version *out, struct st_error *e)
{
	struct vcs_git *g = gitvcs_of(v);
	git_object *object = NULL, *commit = NULL;
	*out = (struct st_version){0};
	int status = g->git->revparse_single(&object, g->repo, rev);
	if (!status)
		status = g->git->object_peel(&commit, object, GIT_OBJECT_COMMIT);
	g->git->object_free(object);
	if (status == GIT_EAMBIGUOUS)
		return st_fail(e, ST_EXIT_USAGE,
		               "several commits begin with '%s': write more digits of the one that "
		               "you mean",
		               rev);
	if (status)
		return st_fail(e, ST_EXIT_USAGE,
		               "'%s' is no commit of this repository: git log lists them", rev);
	status = st_gitwalk_version(g->git, (git_commit *)commit, out) ? 0 : -1;
	g->git->object_free(commit);
	return status ? gitvcs_out_of_memory(e) : 0;
}

static bool
gitvcs_is_empty(struct st_vcs *v)
{
	struct vcs_git *g = gitvcs_of(v);
	git_reference *head = NULL;
	int status = g->git->repository_head(&head, g->repo);
	g->git->reference_free(head);
	return status == GIT_EUNBORNBRANCH;
}

/* The commit that HEAD leads to. Not by revparse, which leaks a reference when that is missing. */
static int
gitvcs_head_commit(const struct vcs_git *g, git_commit **commit)
{
	git_reference *head = NULL;
	int status = g->git->repository_head(&head, g->repo);
	if (!status)
		status = g->git->commit_lookup(commit, g->repo, g->git->reference_target(head));
	g->git->reference_free(head);
	return status;
}

static st_status
gitvcs_head(struct st_vcs *v, struct st_version *out, struct st_error *e)
{
	struct vcs_git *g = gitvcs_of(v);
	git_commit *commit = NULL;
	*out = (struct st_version){0};
	int status = gitvcs_head_commit(g, &commit);
	if (status == GIT_EUNBORNBRANCH)
		return st_fail(e, ST_EXIT_FAILED,
		               "the repository has no commit yet: make one with git commit");
	if (status)
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot read HEAD of the repository: %s; git fsck shows the damage",
		               st_libgit_reason(g->git));
	const bool complete = st_gitwalk_version(g->git, commit, out);
	g->git->commit_free(commit);
	return complete ? ST_OK : gitvcs_out_of_memory(e);
}

static st_status
gitvcs_walk(struct st_vcs *v, const char *from, enum st_vcs_order order, st_vcs_visit *visit,
            void *arg, struct st_error *e)
{
	struct vcs_git *g = gitvcs_of(v);
	return st_gitwalk(g->git, g->repo, from, order, visit, arg) ? 0 : gitvcs_out_of_memory(e);
}

struct gitvcs_search {
	const char *name;
	bool found;
};

static bool
gitvcs_is_sought(void *arg, const struct st_version *v, uint64_t steps)
{
	struct gitvcs_search *search = arg;
	(void)steps;
	search->found = !strcmp(search->name, v->name);
	return !search->found;
}

/* libgit2 is quick, but gives up where a shallow clone ends. */
static bool
gitvcs_reaches(struct st_vcs *v, const char *name, const char *ancestor)
{
	struct vcs_git *g = gitvcs_of(v);
	struct gitvcs_search search = {.name = ancestor};
	git_oid from, to;
	if (g->git->oid_fromstr(&from, name) || g->git->oid_fromstr(&to, ancestor))
		return false;
	if (g->git->oid_equal(&from, &to))
		return true;
	int reached = g->git->graph_descendant_of(g->repo, &from, &to);
	if (reached >= 0)
		return reached == 1;
	return st_gitwalk(g->git, g->repo, name, ST_VCS_NEAREST, gitvcs_is_sought, &search) &&
	       search.found;
}

/* Against its only parent, or against nothing; a merge has no change of its own. */
static int
gitvcs_diff_of(const struct vcs_git *g, git_commit *commit, git_diff **diff)
{
	git_tree *to = NULL, *from = NULL;
	git_commit *parent = NULL;
	unsigned parents = g->git->commit_parentcount(commit);
	if (parents > 1)
		return 0;
	int status = g->git->commit_tree(&to, commit);
	if (!status && parents)
		status = g->git->commit_lookup(&parent, g->repo,
		                               g->git->commit_parent_id(commit, 0));
	if (!status && parents)
		status = g->git->commit_tree(&from, parent);
	if (!status)
		status = g->git->diff_tree_to_tree(diff, g->repo, from, to, NULL);
	g->git->tree_free(from);
	g->git->tree_free(to);
	g->git->commit_free(parent);
	return status;
}

/* A commit whose parent or trees are not here, as in a shallow clone, has none either. */
static st_status
gitvcs_patch(struct st_vcs *v, const char *name, char **out, struct st_error *e)
{
	struct vcs_git *g = gitvcs_of(v);
	git_oid id, patch;
	git_commit *commit = NULL;
	git_diff *diff = NULL;
	char hex[GIT_OID_HEXSZ + 1];
	*out = NULL;
	if (g->git->oid_fromstr(&id, name) || g->git->commit_lookup(&commit, g->repo, &id))
		return 0;
	bool known = !gitvcs_diff_of(g, commit, &diff) && diff && g->git->diff_num_deltas(diff) &&
	             !g->git->diff_patchid(&patch, diff, NULL);
	if (known)
		*out = strdup(g->git->oid_tostr(hex, sizeof hex, &patch));
	g->git->diff_free(diff);
	g->git->commit_free(commit);
	return known && !*out ? gitvcs_out_of_memory(e) : 0;
}

static char *
gitvcs_branch(struct st_vcs *v)
{
	struct vcs_git *g = gitvcs_of(v);
	git_reference *head = NULL;
	char *name = NULL;
	if (!g->git->repository_head(&head, g->repo) && g->git->reference_is_branch(head))
		name = strdup(g->git->reference_shorthand(head));
	g->git->reference_free(head);
	return name;
}

static bool
gitvcs_is_dirty(struct st_vcs *v)
{
	struct vcs_git *g = gitvcs_of(v);
	git_status_options options = {.version = GIT_STATUS_OPTIONS_VERSION};
	git_status_list *list = NULL;
	options.flags = GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
	bool dirty = v->root && !g->git->status_list_new(&list, g->repo, &options) &&
	             g->git->status_list_entrycount(list) > 0;
	g->git->status_list_free(list);
	return dirty;
}

static void
gitvcs_close(struct st_vcs *v)
{
	struct vcs_git *g = gitvcs_of(v);
	g->git->repository_free(g->repo);
	free(v->data);
	free(v->root);
	free(v->hooks);
	free(g);
}

static const struct st_vcs_kind gitvcs_kind = {
        .name = "git",
        .title = "commit",
        .empty = gitvcs_is_empty,
        .head = gitvcs_head,
        .resolve = gitvcs_resolve_to,
        .walk = gitvcs_walk,
        .reaches = gitvcs_reaches,
        .patch = gitvcs_patch,
        .branch = gitvcs_branch,
        .dirty = gitvcs_is_dirty,
        .close = gitvcs_close,
};

/* Of the folder with hooks: core.hooksPath, which counts from the top of the files, or the one of
 * the repository. */
static char *
gitvcs_hooks_folder(const struct vcs_git *g, const char *common, const char *root)
{
	git_config *config = NULL;
	const char *set = NULL;
	char *folder = NULL;
	if (!g->git->repository_config_snapshot(&config, g->repo) &&
	    !g->git->config_get_string(&set, config, "core.hooksPath"))
		folder = *set == '/' || !root ? strdup(set) : st_text_of("%s%s", root, set);
	else
		folder = st_text_of("%shooks", common);
	g->git->config_free(config);
	return folder;
}

static st_status
gitvcs_describe_places(struct vcs_git *g, struct st_error *e)
{
	const char *common = g->git->repository_commondir(g->repo);
	const char *root = g->git->repository_workdir(g->repo);
	g->vcs.data = st_text_of("%sstrobe", common);
	g->vcs.root = root ? strdup(root) : NULL;
	g->vcs.hooks = gitvcs_hooks_folder(g, common, root);
	return g->vcs.data && g->vcs.hooks && (!root || g->vcs.root) ? 0 : gitvcs_out_of_memory(e);
}

st_status
st_vcs_git(struct st_vcs **out, struct st_error *e)
{
	const struct st_libgit *git = st_libgit(e);
	git_repository *repo = NULL;
	*out = NULL;
	if (!git)
		return -1;
	int status = git->repository_open_ext(&repo, NULL, GIT_REPOSITORY_OPEN_FROM_ENV, NULL);
	if (status && st_gitfolder_check(st_libgit_reason(git), e))
		return ST_FAILED;
	if (status == GIT_ENOTFOUND)
		return ST_OK;
	if (status)
		return st_fail(e, ST_EXIT_FAILED, "cannot open the git repository: %s",
		               st_libgit_reason(git));
	struct vcs_git *g = calloc(1, sizeof *g);
	if (!g) {
		git->repository_free(repo);
		return gitvcs_out_of_memory(e);
	}
	*g = (struct vcs_git){.vcs.kind = &gitvcs_kind, .git = git, .repo = repo};
	if (gitvcs_describe_places(g, e)) {
		gitvcs_close(&g->vcs);
		return -1;
	}
	*out = &g->vcs;
	return 0;
}
