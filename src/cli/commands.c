/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "report/text.h"

#define TABLE(name, LIST) static const struct st_option name##_options[] = {LIST(ST_OPTION_ROW)};
TABLE(run, ST_RUN_OPTIONS)
TABLE(paths, ST_PATHS_OPTIONS)
TABLE(trace, ST_TRACE_OPTIONS)
TABLE(mem, ST_MEM_OPTIONS)
TABLE(annotate, ST_ANNOTATE_OPTIONS)
TABLE(blow, ST_BLOW_OPTIONS)
TABLE(predict, ST_PREDICT_OPTIONS)
TABLE(attach, ST_ATTACH_OPTIONS)
TABLE(show, ST_SHOW_OPTIONS)
TABLE(diff, ST_DIFF_OPTIONS)
TABLE(check, ST_CHECK_OPTIONS)
TABLE(model, ST_MODEL_OPTIONS)
TABLE(plot, ST_PLOT_OPTIONS)
TABLE(report, ST_REPORT_OPTIONS)
TABLE(init, ST_INIT_OPTIONS)
TABLE(add, ST_ADD_OPTIONS)
TABLE(status, ST_STATUS_OPTIONS)
TABLE(log, ST_LOG_OPTIONS)
TABLE(rm, ST_RM_OPTIONS)
TABLE(config, ST_CONFIG_OPTIONS)
TABLE(fsck, ST_FSCK_OPTIONS)
TABLE(gc, ST_GC_OPTIONS)
TABLE(import, ST_IMPORT_OPTIONS)
TABLE(export, ST_EXPORT_OPTIONS)
TABLE(hooks, ST_HOOKS_OPTIONS)
TABLE(covered, ST_COVERED_OPTIONS)
TABLE(reconstruct, ST_RECONSTRUCT_OPTIONS)
TABLE(time, ST_TIME_OPTIONS)
TABLE(gate, ST_GATE_OPTIONS)
TABLE(bisect, ST_BISECT_OPTIONS)
TABLE(job, ST_JOB_OPTIONS)
TABLE(backfill, ST_BACKFILL_OPTIONS)
TABLE(campaign, ST_CAMPAIGN_OPTIONS)
TABLE(tune, ST_TUNE_OPTIONS)
TABLE(fuzz, ST_FUZZ_OPTIONS)
TABLE(doctor, ST_DOCTOR_OPTIONS)
TABLE(tools, ST_TOOLS_OPTIONS)
TABLE(build_tool, ST_BUILD_TOOL_OPTIONS)
TABLE(help, ST_HELP_OPTIONS)
TABLE(version, ST_VERSION_OPTIONS)
#undef TABLE

#define C(id, name, usage, help)                                                                   \
	{name,          usage, help, id##_options, sizeof id##_options / sizeof *id##_options,     \
	 st_##id##_main},
const struct st_command st_commands[] = {ST_COMMANDS(C)};
#undef C
const size_t st_n_commands = sizeof st_commands / sizeof *st_commands;

const struct st_command *
st_command_find(const char *name)
{
	for (size_t i = 0; i < st_n_commands; i++)
		if (!strcmp(st_commands[i].name, name))
			return &st_commands[i];
	return NULL;
}

static const char *
command_name(const void *commands, size_t i)
{
	return ((const struct st_command *)commands)[i].name;
}

const char *
st_command_nearest(const char *name)
{
	return st_nearest(name, st_n_commands, command_name, st_commands);
}

void
st_command_help(FILE *out, const struct st_command *command, bool all)
{
	fprintf(out, "usage: strobe %s %s\n\n%s\n\n", command->name, command->usage, command->help);
	st_options_help(out, command->options, command->n_options, all);
}

struct st_options
st_command_options(const char *name, char *const *argv)
{
	const struct st_command *command = st_command_find(name);
	return (struct st_options){
	        .options = command->options, .n = command->n_options, .argv = argv};
}

int
st_complain(const struct st_error *e)
{
	char *text = st_printable(e->text);
	fprintf(stderr, "strobe: %s\n", text ? text : "out of memory");
	free(text);
	return e->code;
}

int
st_complain_running(const struct st_error *e)
{
	int code = st_complain(e);
	return code == ST_EXIT_USAGE ? ST_EXIT_FAILED : code;
}

st_status
st_bad_format(const char *value, const char *values, struct st_error *e)
{
	return st_fail(e, ST_EXIT_USAGE, "no format '%s'; the formats are %s", value, values);
}
