/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a command: its words, and the programs and scripts that they name. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/program.h"
#include "base/text.h"
#include "batch/batch.h"

/* Its size and the time of its last change. NULL: there is no such file. */
json_t *
st_batch_file_identity(const char *path)
{
	struct stat s;
	if (stat(path, &s) || !S_ISREG(s.st_mode))
		return NULL;
	return json_pack("[I, I, I]", (json_int_t)s.st_size, (json_int_t)s.st_mtim.tv_sec,
	                 (json_int_t)s.st_mtim.tv_nsec);
}

/* A program that executes the file that its first plain argument names, "python3.12" too. */
static bool
identity_is_interpreter(const char *word)
{
	static const char *const names[] = {"sh",   "bash",   "dash",  "ksh",  "zsh",
	                                    "perl", "python", "ruby",  "node", "nodejs",
	                                    "lua",  "php",    "tclsh", "java", "Rscript"};
	const char *name = st_base_name(word);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t n = strlen(names[i]);
		if (!strncmp(name, names[i], n) && !name[n + strspn(name + n, "0123456789.")])
			return true;
	}
	return false;
}

/* The code is in the command itself, as after "-c", "-ne", and after "-m" in a module. */
static bool
identity_has_code(const char *word)
{
	const size_t n = strlen(word);
	return n > 1 && word[0] == '-' && word[1] != '-' && strchr("cem", word[n - 1]);
}

/* The file of a word, in the folder that the command runs in. */
static json_t *
identity_of_path(const char *path, const char *folder)
{
	if (*path == '/' || !folder)
		return st_batch_file_identity(path);
	char *whole = st_text_of("%s/%s", folder, path);
	json_t *file = whole ? st_batch_file_identity(whole) : NULL;
	free(whole);
	return file;
}

/* A program that the word names, wherever it stands: "timeout 5 ./program". A word without a slash
 * is looked for in PATH. */
static json_t *
identity_of_program(const char *word, const char *folder)
{
	char path[PATH_MAX];
	if (!strchr(word, '/'))
		return st_path_find(word, path, sizeof path) ? NULL : st_batch_file_identity(path);
	char *whole = *word == '/' || !folder ? strdup(word) : st_text_of("%s/%s", folder, word);
	json_t *file = whole && !st_path_find(whole, path, sizeof path)
	                       ? st_batch_file_identity(path)
	                       : NULL;
	free(whole);
	return file;
}

/* Other files are left out, since commands also name files that they change. */
json_t *
st_batch_command_identity(char *const *words, const char *folder)
{
	json_t *all = json_array();
	bool good = all != NULL, script = false;
	for (char *const *word = words; good && *word; word++) {
		json_t *file = identity_of_program(*word, folder);
		if (!file && script && **word != '-')
			file = identity_of_path(*word, folder);
		if (script)
			script = !file && !identity_has_code(*word);
		else
			script = identity_is_interpreter(*word);
		good = !json_array_append_new(all, json_string(*word)) &&
		       (!file || !json_array_append_new(all, file));
	}
	if (good)
		return all;
	json_decref(all);
	return NULL;
}
