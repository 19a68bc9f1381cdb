/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The note of a run that reached its limit: its cause, and the stacks of its threads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/blow.h"
#include "report/json.h"

/* A line of a note: its kind, and its text up to the line's end. */
struct note_line {
	const char *kind, *text;
	size_t kind_length, length;
};

/* Takes the next line. False: there is none. A line without a tab has no text. */
static bool
next_note_line(const char **note, struct note_line *out)
{
	const char *line = *note;
	if (!line || !*line)
		return false;
	const size_t whole = strcspn(line, "\n"), kind = strcspn(line, "\t\n");
	out->kind = line;
	out->kind_length = kind;
	out->text = line + kind + (kind < whole);
	out->length = whole - kind - (kind < whole);
	*note = line + whole + (line[whole] == '\n');
	return true;
}

static bool
is_note_kind(const struct note_line *line, const char *kind)
{
	return line->kind_length == strlen(kind) && !memcmp(line->kind, kind, line->kind_length);
}

/* The fields of a frame: function, path and offset of the image. A damaged line has empty ones. */
struct note_frame {
	const char *fields[3];
	size_t lengths[3];
};

static struct note_frame
frame_of_line(const struct note_line *line)
{
	enum { FIELDS = 3 };
	struct note_frame f = {{"", "", ""}, {0, 0, 0}};
	const char *at = line->text, *end = line->text + line->length;
	for (int i = 0; i < FIELDS && at <= end; i++) {
		const char *tab = memchr(at, '\t', (size_t)(end - at));
		f.fields[i] = at;
		f.lengths[i] = (size_t)((tab ? tab : end) - at);
		at = tab ? tab + 1 : end + 1;
	}
	return f;
}

/* ---- text ---- */

static void
print_note_frame(const struct note_line *line, FILE *out)
{
	const struct note_frame f = frame_of_line(line);
	const char *path = f.fields[1];
	size_t length = f.lengths[1];
	for (const char *slash; (slash = memchr(path, '/', length));) {
		length -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	fprintf(out, "      %.*s (%.*s+0x%.*s)\n", (int)f.lengths[0], f.fields[0], (int)length,
	        path, (int)f.lengths[2], f.fields[2]);
}

bool
st_blow_note_print(const char *note, bool stacks, FILE *out)
{
	bool has_stacks = false;
	for (struct note_line line; next_note_line(&note, &line);) {
		if (is_note_kind(&line, "cause"))
			fprintf(out, "    %.*s\n", (int)line.length, line.text);
		else
			has_stacks = true;
		if (stacks && is_note_kind(&line, "thread"))
			fprintf(out, "    %.*s\n", (int)line.length, line.text);
		else if (stacks && is_note_kind(&line, "frame"))
			print_note_frame(&line, out);
		else if (stacks && is_note_kind(&line, "missing"))
			fprintf(out, "      (%.*s)\n", (int)line.length, line.text);
	}
	return has_stacks && !stacks;
}

/* ---- JSON ---- */

static json_t *
json_note_text(const char *text, size_t length)
{
	char *copy = strndup(text, length);
	json_t *out = copy ? st_json_text(copy) : NULL;
	free(copy);
	return out;
}

static json_t *
json_note_frame(const struct note_line *line)
{
	const struct note_frame f = frame_of_line(line);
	json_t *out = json_object();
	int bad = json_object_set_new(out, "function", json_note_text(f.fields[0], f.lengths[0]));
	bad |= json_object_set_new(out, "image", json_note_text(f.fields[1], f.lengths[1]));
	bad |= json_object_set_new(out, "offset", st_json_count(strtoull(f.fields[2], NULL, 16)));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* Adds an entry for a thread to the stacks. NULL: memory is exhausted. */
static json_t *
add_json_thread(json_t *stacks, const struct note_line *line)
{
	json_t *thread = json_object();
	int bad = json_object_set_new(thread, "thread", json_note_text(line->text, line->length));
	bad |= json_object_set_new(thread, "frames", json_array());
	bad |= json_object_set_new(thread, "missing", json_null());
	bad |= json_array_append_new(stacks, thread); /* also frees it if that fails */
	return bad ? NULL : thread;
}

int
st_blow_note_json(const char *note, json_t *fault)
{
	json_t *stacks = json_array(), *thread = NULL;
	int bad = json_object_set_new(fault, "cause", json_null());
	bad |= json_object_set_new(fault, "stacks", stacks);
	for (struct note_line line; !bad && next_note_line(&note, &line);) {
		if (is_note_kind(&line, "cause"))
			bad = json_object_set_new(fault, "cause",
			                          json_note_text(line.text, line.length));
		else if (is_note_kind(&line, "thread"))
			bad = !(thread = add_json_thread(stacks, &line));
		else if (thread && is_note_kind(&line, "frame"))
			bad = json_array_append_new(json_object_get(thread, "frames"),
			                            json_note_frame(&line));
		else if (thread && is_note_kind(&line, "missing"))
			bad = json_object_set_new(thread, "missing",
			                          json_note_text(line.text, line.length));
	}
	return bad;
}
