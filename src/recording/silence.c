/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/silence.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "recording/fields.h"

static void
silence_append_signal(char *text, size_t size, int signal)
{
	const char *name = sigabbrev_np(signal), *meaning = sigdescr_np(signal);
	if (name && meaning)
		st_append(text, size, "was ended by SIG%s (%s)", name, meaning);
	else
		st_append(text, size, "was ended by signal %d", signal);
}

/* "was ended by SIGSEGV (Segmentation fault)"; empty if the program did not fail. */
static void
silence_describe_end(const struct st_program_end *end, char *text, size_t size)
{
	*text = 0;
	if (end->signal)
		silence_append_signal(text, size, end->signal);
	else if (end->exit_code)
		st_append(text, size, "exited with code %d", end->exit_code);
}

static st_status
silence_after_failure(const struct st_silence *s, const char *end, const char *others,
                      struct st_error *e)
{
	if (s->calls)
		return st_fail(e, s->end.exit_code,
		               "nothing was recorded, because the program %s: %s of the chosen "
		               "functions began, and none returned",
		               end, ST_COUNT(s->calls, "call", "calls"));
	return st_fail(e, s->end.exit_code,
	               "nothing was recorded, because the program %s and did not call %s%s: "
	               "check whether it also fails without strobe",
	               end, s->function, others);
}

static st_status
silence_find_cause(const struct st_recording_request *r, const struct st_silence *s,
                   struct st_error *e)
{
	const char *others = s->functions > 1 ? " or any other function that was chosen" : "";
	char end[128];
	silence_describe_end(&s->end, end, sizeof end);
	if (*end)
		return silence_after_failure(s, end, others, e);
	if (s->calls)
		return st_fail(e, ST_EXIT_FAILED,
		               "nothing was recorded: %s of the chosen functions began, and none "
		               "returned",
		               ST_COUNT(s->calls, "call", "calls"));
	return st_fail(
	        e, ST_EXIT_FAILED, "nothing was recorded, because the %s did not call %s%s: %s",
	        r->pid ? "process" : "program", s->function, others,
	        r->pid ? "record it for longer, with --for" : "give it an input for which it does");
}

st_status
st_silence_explain(const struct st_recording_request *r, const struct st_silence *s, FILE *out,
                   struct st_error *e)
{
	if (!silence_find_cause(r, s, e) || !r->input)
		return ST_FAILED;
	fputs("#silent,", out);
	st_record_text(out, r->input);
	fputc(',', out);
	st_record_text(out, e->text);
	fputc('\n', out);
	return ST_OK;
}
