/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe config: reads and changes settings. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/text.h"
#include "store/config.h"

enum {
#define O(id, letter, name, argument, shown, help) CONFIG_##id,
	ST_CONFIG_OPTIONS(O)
#undef O
};

/* The exit code when a key has no value. */
enum { EXIT_NOT_SET = 1 };

struct arguments {
	const char *key, *value;
	bool shared, unset, all, keys, json, help;
};

static st_status
config_take_word(struct arguments *a, const char *value, struct st_error *e)
{
	if (!a->key)
		a->key = value;
	else if (!a->value)
		a->value = value;
	else
		return st_fail(e, ST_EXIT_USAGE,
		               "strobe config takes a key and a value; '%s' is one too many: quote "
		               "a value that has spaces",
		               value);
	return 0;
}

static st_status
apply_config_option(struct arguments *a, int option, const char *value, struct st_error *e)
{
	switch (option) {
	case ST_OPTIONS_OTHER:
		return config_take_word(a, value, e);
	case CONFIG_shared:
		a->shared = true;
		return 0;
	case CONFIG_unset:
		a->unset = true;
		return 0;
	case CONFIG_all:
		a->all = true;
		return 0;
	case CONFIG_keys:
		a->keys = true;
		return 0;
	case CONFIG_format:
		return st_stored_format(value, &a->json, e);
	case CONFIG_help:
		a->help = true;
		return 0;
	default:
		return -1; /* *e is filled */
	}
}

static st_status
parse_config(struct arguments *a, char *const *argv, struct st_error *e)
{
	struct st_options o = st_command_options("config", argv);
	const char *value;
	*a = (struct arguments){0};
	for (int option; (option = st_options_next(&o, &value, e)) != ST_OPTIONS_END;)
		if (apply_config_option(a, option, value, e))
			return -1;
	if (a->unset && (!a->key || a->value))
		return st_fail(e, ST_EXIT_USAGE,
		               "--unset takes one key: strobe config --unset KEY");
	if (a->shared && !a->value && !a->unset)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "--shared says where a value is set: strobe config --shared KEY VALUE");
	return a->key ? st_config_check_key(a->key, e) : 0;
}

static void
config_print_keys(void)
{
	static const struct {
		const char *key, *argument, *help;
	} keys[] = {
#define K(key, argument, help) {key, argument, help},
	        ST_CONFIG_KEYS(K)
#undef K
	};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		printf("%s %s\n    %s\n", keys[i].key, keys[i].argument, keys[i].help);
}

/* Whether a row is shown: all without a key, of a key the first or all. */
static bool
config_shows(const struct arguments *a, const struct st_setting *s, size_t shown)
{
	return !a->key || (!strcmp(a->key, s->key) && (a->all || !shown));
}

static st_status
config_print(const struct arguments *a, const struct st_config *c, int *code, struct st_error *e)
{
	json_t *settings = json_array();
	size_t shown = 0;
	for (size_t i = 0; i < c->v.n; i++) {
		const struct st_setting *s = &c->v.v[i];
		if (!config_shows(a, s, shown))
			continue;
		shown++;
		char *value = st_printable(s->value);
		if (a->json)
			json_array_append_new(settings,
			                      json_pack("{ss, so, ss}", "key", s->key, "value",
			                                st_json_text(s->value), "place",
			                                st_config_places[s->place]));
		else if (a->key)
			printf("%s\n", value ? value : "");
		else
			printf("%s = %s (%s)\n", s->key, value ? value : "",
			       st_config_places[s->place]);
		free(value);
	}
	if (a->key && !shown)
		*code = EXIT_NOT_SET;
	if (a->json)
		return st_stored_print_json(
		        json_pack("{si, so}", "version", ST_JSON_VERSION, "settings", settings), e);
	json_decref(settings);
	return 0;
}

static st_status
config_do(const struct arguments *a, int *code, struct st_error *e)
{
	struct st_config c = {0};
	char *data = NULL;
	if (st_config_local(&data, e))
		return -1;
	int status;
	if (a->value || a->unset) {
		status = st_config_set(a->shared ? ST_CONFIG_SHARED : ST_CONFIG_LOCAL, data, a->key,
		                       a->value, e);
	} else {
		status = st_config_read(&c, data, e);
		if (!status)
			status = config_print(a, &c, code, e);
		st_config_free(&c);
	}
	free(data);
	return status ? ST_FAILED : ST_OK;
}

int
st_config_main(char *const *argv)
{
	struct arguments a;
	struct st_error e;
	int code = ST_EXIT_OK, bad = parse_config(&a, argv, &e);
	if (!bad && a.help)
		st_command_help(stdout, st_command_find("config"), false);
	else if (!bad && a.keys)
		config_print_keys();
	else if (bad || config_do(&a, &code, &e))
		return st_complain(&e);
	return code;
}
