/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/hooks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/text.h"
#include "profile/output.h"

/* By this line a hook is known as ours. */
#define HOOK_MARK "# Written by strobe hooks install; strobe hooks remove removes it."

static const char *const hook_names[ST_HOOKS] = {"post-commit", "pre-push"};

/* git runs hooks at the top of the files. A commit is never undone because of what they find; a
 * push is stopped. */
static const char *const hook_texts[ST_HOOKS] = {
        "#!/bin/sh\n" HOOK_MARK "\n"
        "# Measures the new commit if there is a script that does, stores what was measured, and\n"
        "# compares it with the nearest earlier commit.\n"
        "mkdir -p .strobe/pending || exit 0\n"
        "if [ -x .strobe/measure ]; then\n"
        "\t.strobe/measure .strobe/pending || echo 'strobe: .strobe/measure failed' >&2\n"
        "fi\n"
        "set -- .strobe/pending/*.db\n"
        "[ -e \"$1\" ] || exit 0\n"
        "strobe add --rev HEAD --quiet \"$@\" && rm -f \"$@\" && strobe status\n"
        "exit 0\n",
        "#!/bin/sh\n" HOOK_MARK "\n"
        "# Stops a push when something costs more; git push --no-verify pushes nevertheless.\n"
        "# A push that cannot be compared goes through with a warning.\n"
        "strobe status --exit-code >&2\n"
        "code=$?\n"
        "case $code in\n"
        "0) ;;\n"
        "1) echo 'strobe: not pushed, because something costs more; git push --no-verify pushes'"
        " >&2; exit 1 ;;\n"
        "*) echo \"strobe: warning: this push is not checked for slowdowns, because strobe"
        " status failed with exit code $code: remove the cause, or the hook with strobe hooks "
        "remove\" ;;\n"
        "esac >&2\n"
        "exit 0\n",
};

enum hook_owner { HOOK_ABSENT, HOOK_OURS, HOOK_FOREIGN };

static enum hook_owner
hook_owner_of(const char *path)
{
	char line[256];
	bool ours = false;
	if (access(path, F_OK))
		return HOOK_ABSENT;
	FILE *f = st_fopen_regular(path);
	while (f && !ours && fgets(line, sizeof line, f))
		ours = !strncmp(line, HOOK_MARK, strlen(HOOK_MARK));
	if (f)
		fclose(f);
	return ours ? HOOK_OURS : HOOK_FOREIGN;
}

/* The folder with the hooks of the repository, malloc'ed; NULL with *e. */
static char *
hook_folder(struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	if (st_vcs_git(&vcs, e))
		return NULL;
	if (!vcs) {
		st_cause(e, ST_EXIT_FAILED,
		         "there is no git repository here: hooks are run by git");
		return NULL;
	}
	char *folder = strdup(vcs->hooks);
	vcs->kind->close(vcs);
	if (!folder)
		st_cause(e, ST_EXIT_FAILED, "no memory left for the hooks");
	return folder;
}

static st_status
hook_find(struct st_hook hooks[ST_HOOKS], char *folder, struct st_error *e)
{
	int status = folder ? 0 : -1;
	for (int i = 0; i < ST_HOOKS; i++) {
		hooks[i] = (struct st_hook){.name = hook_names[i], .change = ST_HOOK_NONE};
		if (status)
			continue;
		hooks[i].path = st_text_of("%s/%s", folder, hook_names[i]);
		if (!hooks[i].path)
			status = st_store_no_memory(e);
	}
	return status ? ST_FAILED : ST_OK;
}

static st_status
hook_write(struct st_hook *hook, const char *text, struct st_error *e)
{
	if (st_output_text(hook->path, text, e))
		return -1;
	mode_t mask = umask(0);
	umask(mask);
	if (chmod(hook->path, 0777 & ~mask))
		return st_fail(e, ST_EXIT_FAILED, "cannot make %s executable: %s", hook->path,
		               strerror(errno));
	hook->change = ST_HOOK_WRITTEN;
	return 0;
}

st_status
st_hooks_install(struct st_hook hooks[ST_HOOKS], struct st_error *e)
{
	char *folder = hook_folder(e);
	int status = hook_find(hooks, folder, e);
	for (int i = 0; i < ST_HOOKS && !status; i++)
		if (hook_owner_of(hooks[i].path) == HOOK_FOREIGN)
			status = st_fail(e, ST_EXIT_FAILED,
			                 "%s is a hook of your own: nothing was changed; see "
			                 "man strobe-hooks for what to add to it",
			                 hooks[i].path);
	if (!status && mkdir(folder, 0777) && errno != EEXIST)
		status = st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s: %s", folder,
		                 strerror(errno));
	for (int i = 0; i < ST_HOOKS && !status; i++)
		if (hook_owner_of(hooks[i].path) == HOOK_OURS && unlink(hooks[i].path))
			status = st_fail(e, ST_EXIT_FAILED, "cannot replace %s: %s", hooks[i].path,
			                 strerror(errno));
	for (int i = 0; i < ST_HOOKS && !status; i++)
		status = hook_write(&hooks[i], hook_texts[i], e);
	free(folder);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_hooks_remove(struct st_hook hooks[ST_HOOKS], struct st_error *e)
{
	char *folder = hook_folder(e);
	int status = hook_find(hooks, folder, e);
	for (int i = 0; i < ST_HOOKS && !status; i++) {
		if (hook_owner_of(hooks[i].path) != HOOK_OURS)
			continue;
		if (unlink(hooks[i].path))
			status = st_fail(e, ST_EXIT_FAILED, "cannot remove %s: %s", hooks[i].path,
			                 strerror(errno));
		else
			hooks[i].change = ST_HOOK_REMOVED;
	}
	free(folder);
	return status ? ST_FAILED : ST_OK;
}

void
st_hooks_free(struct st_hook hooks[ST_HOOKS])
{
	for (int i = 0; i < ST_HOOKS; i++)
		free(hooks[i].path);
}
