/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "job/child.h"
#include "profile/output.h"

/* All that a file has, with a NUL; malloc'ed, NULL: it cannot be read. */
static char *
versions_read(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t n = f ? getdelim(&text, &size, '\0', f) : -1;
	if (f)
		fclose(f);
	if (n >= 0)
		return text;
	free(text);
	return f ? strdup("") : NULL;
}

/* Runs git without the hooks of the repository. *said: what it printed, malloc'ed; may be NULL. */
static st_status
versions_git(const char *root, char *const *words, char **said, int *code, struct st_error *e)
{
	char *argv[16] = {"git", "-c", "core.hooksPath=/dev/null", "-C", (char *)(uintptr_t)root};
	char out[] = "/tmp/strobe-git-XXXXXX";
	struct st_child_end end = {0};
	int n = 5, fd = mkstemp(out);
	while (*words)
		argv[n++] = *words++;
	argv[n] = NULL;
	if (fd < 0)
		return st_fail(e, ST_EXIT_FAILED, "cannot make a file in /tmp: %s",
		               strerror(errno));
	close(fd);
	const struct st_child c = {.argv = argv, .output = out, .errors = out, .to_its_end = true};
	st_status status = st_child_run(&c, &end, e);
	*code = end.exit;
	*said = status ? NULL : versions_read(out);
	unlink(out);
	if (!status && !*said)
		status = st_fail(e, ST_EXIT_FAILED, "cannot read what git has printed");
	return status;
}

static st_status
commits_take(struct st_commits *c, char *lines, struct st_error *e)
{
	for (char *line; (line = strsep(&lines, "\n"));) {
		if (!*line)
			continue;
		char **slot = ST_PUSH(&c->v);
		if (!slot || !(*slot = strdup(line)))
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the commits");
	}
	return ST_OK;
}

/* The first line of what git said, as a part of a message. */
static const char *
versions_reason(char *said)
{
	said[strcspn(said, "\n")] = '\0';
	return strncmp(said, "fatal: ", 7) ? said : said + 7;
}

st_status
st_commits_of(struct st_commits *c, const char *root, const char *range, struct st_error *e)
{
	char *text = (char *)(uintptr_t)range, *said = NULL;
	char *list[] = {"rev-list", "--reverse", "--topo-order", "--end-of-options", text,
	                "--",       NULL};
	char *one[] = {"rev-list", "--max-count=1", "--end-of-options", text, "--", NULL};
	int code = 0;
	*c = (struct st_commits){0};
	st_status status = versions_git(root, strstr(range, "..") ? list : one, &said, &code, e);
	if (!status && code)
		status = st_fail(e, ST_EXIT_USAGE, "'%s' names no commits: %s", range,
		                 versions_reason(said));
	if (!status)
		status = commits_take(c, said, e);
	free(said);
	if (!status && !c->v.n)
		status = st_fail(e, ST_EXIT_USAGE,
		                 "'%s' has no commits: A..B are those of B that A does not have",
		                 range);
	return status;
}

/* Whether the later version contains the earlier one. */
static st_status
commits_check_order(const char *root, const char *range, struct st_error *e)
{
	const char *dots = strstr(range, "..");
	char *earlier = dots ? st_text_of("%.*s", (int)(dots - range), range) : NULL, *said = NULL;
	int code = 0;
	if (!earlier)
		return st_fail(e, ST_EXIT_USAGE, "'%s' is no range of versions", range);
	char *words[] = {"merge-base", "--is-ancestor", earlier, (char *)(uintptr_t)(dots + 2),
	                 NULL};
	st_status status = versions_git(root, words, &said, &code, e);
	if (!status && code)
		status = st_fail(
		        e, ST_EXIT_USAGE, "'%s' does not come after '%s': %s", dots + 2, earlier,
		        *said ? versions_reason(said) : "the latter is no ancestor of the former");
	free(said);
	free(earlier);
	return status;
}

st_status
st_commits_line(struct st_commits *c, const char *root, const char *range, struct st_error *e)
{
	char *list[] = {"rev-list",
	                "--reverse",
	                "--first-parent",
	                "--end-of-options",
	                (char *)(uintptr_t)range,
	                "--",
	                NULL};
	char *said = NULL;
	int code = 0;
	*c = (struct st_commits){0};
	if (commits_check_order(root, range, e))
		return ST_FAILED;
	st_status status = versions_git(root, list, &said, &code, e);
	if (!status && code)
		status = st_fail(e, ST_EXIT_USAGE, "'%s' names no commits: %s", range,
		                 versions_reason(said));
	if (!status)
		status = commits_take(c, said, e);
	free(said);
	if (!status && !c->v.n)
		status = st_fail(e, ST_EXIT_USAGE, "'%s' has no commits", range);
	return status;
}

void
st_commits_free(struct st_commits *c)
{
	for (size_t i = 0; i < c->v.n; i++)
		free(c->v.v[i]);
	free(c->v.v);
	*c = (struct st_commits){0};
}

/* ---- work trees ---- */

/* git forgets it, and the files go; what git does not know goes, too. */
static void
worktree_clear(const char *root, const char *folder)
{
	char *remove[] = {"worktree", "remove", "--force", "--force", (char *)(uintptr_t)folder,
	                  NULL};
	char *prune[] = {"worktree", "prune", NULL};
	char *rm[] = {"rm", "-rf", "--", (char *)(uintptr_t)folder, NULL};
	const struct st_child c = {.argv = rm, .to_its_end = true};
	struct st_child_end end;
	struct st_error e;
	char *said = NULL;
	int code;
	/* After a failure, only a temporary folder remains. */
	ST_IGNORE(versions_git(root, remove, &said, &code, &e));
	free(said);
	said = NULL;
	ST_IGNORE(st_child_run(&c, &end, &e));
	ST_IGNORE(versions_git(root, prune, &said, &code, &e));
	free(said);
}

/* The folder that a killed run has left; only one that has such a name. */
static void
worktree_clear_marked(const char *root, const char *mark)
{
	char *folder = versions_read(mark);
	if (folder && strstr(folder, "/strobe-job-"))
		worktree_clear(root, folder);
	free(folder);
	unlink(mark);
}

/* The folder is marked before git fills it. */
static st_status
worktree_make_folder(struct st_worktree *w, struct st_error *e)
{
	const char *place = getenv("TMPDIR");
	w->folder = st_text_of("%s/strobe-job-XXXXXX", place && *place == '/' ? place : "/tmp");
	if (!w->folder || !w->mark)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the work tree");
	if (mkdtemp(w->folder))
		return st_output_text(w->mark, w->folder, e);
	st_status status = st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", w->folder,
	                           strerror(errno));
	free(w->folder);
	w->folder = NULL;
	return status;
}

st_status
st_worktree_make(struct st_worktree *w, const char *root, const char *commit, const char *mark,
                 struct st_error *e)
{
	char *said = NULL;
	int code = 0;
	*w = (struct st_worktree){.root = root, .mark = strdup(mark)};
	worktree_clear_marked(root, mark);
	if (worktree_make_folder(w, e))
		return ST_FAILED;
	char *add[] = {"worktree",
	               "add",
	               "--quiet",
	               "--force",
	               "--detach",
	               w->folder,
	               (char *)(uintptr_t)commit,
	               NULL};
	st_status status = versions_git(root, add, &said, &code, e);
	if (!status && code)
		status = st_fail(e, ST_EXIT_FAILED, "cannot make a work tree of %.10s: %s", commit,
		                 versions_reason(said));
	free(said);
	return status;
}

void
st_worktree_remove(struct st_worktree *w)
{
	if (w->folder)
		worktree_clear(w->root, w->folder);
	if (w->mark)
		unlink(w->mark);
	free(w->folder);
	free(w->mark);
	*w = (struct st_worktree){0};
}
