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

/* The letters of the options after which an interpreter takes code, or a module, from the command
 * and not from a file: those of sh -c, perl -ne, python3 -m. NULL: it is no interpreter. Versions
 * in names, such as python3.12, do not count. */
static const char *
identity_code_letters(const char *word)
{
	static const char *const names[][2] = {
	        {"sh", "c"},    {"bash", "c"},    {"dash", "c"}, {"ksh", "c"},   {"zsh", "c"},
	        {"perl", "eE"}, {"python", "cm"}, {"ruby", "e"}, {"node", "ep"}, {"nodejs", "ep"},
	        {"lua", "e"},   {"php", "r"},     {"tclsh", ""}, {"java", ""},   {"Rscript", "e"}};
	const char *name = st_base_name(word);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t n = strlen(names[i][0]);
		if (!strncmp(name, names[i][0], n) && !name[n + strspn(name + n, "0123456789.")])
			return names[i][1];
	}
	return NULL;
}

/* Whether the word is an option, or a group of options, that ends in one of the letters. */
static bool
identity_has_code(const char *word, const char *letters)
{
	const size_t n = strlen(word);
	return n > 1 && word[0] == '-' && word[1] != '-' && strchr(letters, word[n - 1]);
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
	const char *code = NULL; /* of the interpreter whose script is still to come */
	bool good = all != NULL;
	for (char *const *word = words; good && *word; word++) {
		json_t *file = identity_of_program(*word, folder);
		if (!file && code && **word != '-')
			file = identity_of_path(*word, folder);
		if (!code)
			code = identity_code_letters(*word);
		else if (file || identity_has_code(*word, code))
			code = NULL;
		good = !json_array_append_new(all, json_string(*word)) &&
		       (!file || !json_array_append_new(all, file));
	}
	if (good)
		return all;
	json_decref(all);
	return NULL;
}
