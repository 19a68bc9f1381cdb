/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks as JSON: {"runs": [{"argv", "folder", "input", "setting", "output"}], "cpu"}. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch.h"

json_t *
st_batch_task_new(void)
{
	return json_pack("{s:[]}", "runs");
}

static bool
task_set(json_t *run, const char *name, const char *value)
{
	return !value || !json_object_set_new(run, name, json_string(value));
}

static json_t *
task_words(const struct st_batch_command *c)
{
	json_t *words = json_array();
	bool good = words != NULL;
	for (char *const *word = c->argv; good && *word; word++)
		good = !json_array_append_new(words, json_string(*word));
	if (good)
		return words;
	json_decref(words);
	return NULL;
}

bool
st_batch_task_run(json_t *task, const struct st_batch_command *c)
{
	char *folder = realpath(c->folder ? c->folder : ".", NULL);
	char *input = c->input ? realpath(c->input, NULL) : NULL;
	json_t *run = json_object(), *words = task_words(c);
	bool good = run && words && folder && !json_object_set(run, "argv", words) &&
	            task_set(run, "folder", folder) &&
	            task_set(run, "input", input ? input : c->input) &&
	            task_set(run, "setting", c->setting) &&
	            (!c->output ||
	             !json_object_set_new(run, "output", json_integer((json_int_t)c->output))) &&
	            !json_array_append(json_object_get(task, "runs"), run);
	json_decref(words);
	json_decref(run);
	free(folder);
	free(input);
	return good;
}

void
st_batch_task_pin(json_t *task, uint64_t random)
{
	/* Without room for it the worker chooses the first CPU. */
	json_object_set_new(task, "cpu", json_integer((json_int_t)(random & INT_MAX)));
}
