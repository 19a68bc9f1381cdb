/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of a run is "SUM VARIANT REPETITION RESULT", where SUM is a checksum of what follows it,
 * eight hexadecimal digits. The first line is "SUM strobe-experiment 1 IDENTITY".
 */
#include "experiment/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "base/text.h"

static const char format[] = "strobe-experiment 1 ";
enum { SUM = 9 };             /* characters of a line's checksum, with the blank */
enum { LONGEST_SHOWN = 200 }; /* characters of an identity in a message */

static st_status
journal_failed(const struct st_journal *j, const char *what, struct st_error *e)
{
	const bool full = errno == ENOSPC || errno == EDQUOT;
	return st_fail(e, ST_EXIT_FAILED, "cannot %s the journal %s: %s%s%s", what, j->path,
	               strerror(errno), full ? "; make room there, then " : "",
	               !full        ? ""
	               : j->proceed ? j->proceed
	                            : "repeat the command");
}

/* The line of a text, with its checksum and newline; malloc'ed, NULL: no memory. */
static char *
journal_line_of(const char *text)
{
	return st_text_of("%08" PRIx32 " %s\n", st_hash_text(text), text);
}

static char *
first_line(const char *identity)
{
	char *text = st_text_of("%s%s", format, identity),
	     *line = text ? journal_line_of(text) : NULL;
	free(text);
	return line;
}

/* The text of a line, which ends with a NUL; NULL: it is damaged. */
static const char *
text_of_line(const char *line)
{
	char *end;
	if (strlen(line) < SUM || line[SUM - 1] != ' ')
		return NULL;
	unsigned long sum = strtoul(line, &end, 16);
	return end == line + SUM - 1 && sum == st_hash_text(line + SUM) ? line + SUM : NULL;
}

static bool
journal_read_number(const char **at, size_t *number)
{
	char *end;
	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 10);
	if (errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

/* ---- reading ---- */

/* All of the file, with a NUL behind it; malloc'ed, NULL with *e. */
static char *
read_file(const struct st_journal *j, size_t *size, struct st_error *e)
{
	struct stat st;
	size_t have = 0;
	if (fstat(j->fd, &st)) {
		ST_IGNORE(journal_failed(j, "read", e)); /* which fills *e */
		return NULL;
	}
	char *text = calloc(1, (size_t)st.st_size + 1);
	for (ssize_t got = 1; text && have < (size_t)st.st_size && got > 0; have += (size_t)got)
		if ((got = pread(j->fd, text + have, (size_t)st.st_size - have, (off_t)have)) < 0) {
			ST_IGNORE(journal_failed(j, "read", e)); /* the same */
			free(text);
			return NULL;
		}
	if (!text)
		st_cause(e, ST_EXIT_FAILED, "no memory left to read the journal %s", j->path);
	else
		text[have] = '\0';
	*size = have;
	return text;
}

static bool
first_is_damaged(const char *text, size_t n)
{
	char *line = strndup(text, n);
	const bool damaged = line && !text_of_line(line);
	free(line);
	return damaged;
}

enum { LONGEST_DIFFERENCE = 60 };

/* Where the word that the place is in begins; for the value of an option, where the option does. */
static size_t
begin_of_difference(const char *text, size_t at)
{
	while (at && text[at - 1] != ' ')
		at--;
	size_t before = at ? at - 1 : 0;
	while (before && text[before - 1] != ' ')
		before--;
	return text[at] != '-' && text[before] == '-' && text[before + 1] != ' ' ? before : at;
}

/* The option or word there, with its value: at most two words. */
static int
length_of_difference(const char *text, size_t n)
{
	const char *space = memchr(text, ' ', n);
	if (space && *text == '-' && n > (size_t)(space + 1 - text) && space[1] != '-') {
		const size_t first = (size_t)(space + 1 - text);
		space = memchr(space + 1, ' ', n - first);
	}
	const size_t length = space ? (size_t)(space - text) : n;
	return length < LONGEST_DIFFERENCE ? (int)length : LONGEST_DIFFERENCE;
}

/* Fails with the first option or word that differs in the two descriptions, whose lengths are n and
 * n_wanted. */
static st_status
fail_as_other(const struct st_journal *j, const char *text, size_t n, const char *wanted,
              size_t n_wanted, struct st_error *e)
{
	size_t same = 0;
	while (same < n && same < n_wanted && text[same] == wanted[same])
		same++;
	const size_t at = begin_of_difference(same < n ? text : wanted, same);
	const bool is_long = n > LONGEST_SHOWN;
	const char *there = at < n ? text + at : "nothing",
	           *here = at < n_wanted ? wanted + at : "nothing";
	return st_fail(e, ST_EXIT_FAILED,
	               "the journal %s is of another experiment, which has '%.*s' where this one "
	               "has '%.*s'; choose another file or folder, or repeat that one: %.*s%s",
	               j->path, length_of_difference(there, at < n ? n - at : strlen(there)), there,
	               length_of_difference(here, at < n_wanted ? n_wanted - at : strlen(here)),
	               here, (int)(is_long ? LONGEST_SHOWN : n), text, is_long ? "..." : "");
}

/* Checks the first line. *length: its bytes; 0: it is incomplete and may be written again. */
static st_status
check_first(const struct st_journal *j, const char *text, const char *wanted, size_t *length,
            struct st_error *e)
{
	size_t n = strcspn(text, "\n");
	*length = text[n] ? n + 1 : 0;
	if (!strncmp(text, wanted, n) && (text[n] ? strlen(wanted) == n + 1 : true))
		return ST_OK;
	if (strlen(text) < SUM || strncmp(text + SUM, format, sizeof format - 1) != 0)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s is not a journal of an experiment: choose another file or folder",
		        j->path);
	if (first_is_damaged(text, n))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the journal %s is damaged in line 1, which describes the experiment: "
		        "choose another file or folder",
		        j->path);
	const size_t begin = SUM + sizeof format - 1;
	return fail_as_other(j, text + begin, n - begin, wanted + begin,
	                     strcspn(wanted, "\n") - begin, e);
}

static st_status
journal_read_line(const struct st_journal *j, const char *text, size_t number,
                  st_journal_reader read, void *arg, struct st_error *e)
{
	size_t variant, repetition;
	if (!text || !journal_read_number(&text, &variant) ||
	    !journal_read_number(&text, &repetition))
		return st_fail(e, ST_EXIT_FAILED,
		               "the journal %s is damaged in line %zu: remove what begins there",
		               j->path, number);
	return read(arg, variant, repetition, text, e) ? ST_FAILED : ST_OK;
}

/* Lines after the first. *good: where the last whole one ends. */
static st_status
journal_read_lines(struct st_journal *j, char *text, size_t size, size_t *good,
                   st_journal_reader read, void *arg, struct st_error *e)
{
	for (size_t number = 2; *good < size; number++) {
		char *line = text + *good, *newline = memchr(line, '\n', size - *good);
		size_t end = newline ? (size_t)(newline - text) + 1 : size;
		if (newline)
			*newline = '\0';
		const char *of_line = newline ? text_of_line(line) : NULL;
		if (!of_line && end == size) {
			snprintf(j->dropped, sizeof j->dropped,
			         "line %zu, the last one of the journal, was not written whole: "
			         "its run is executed again",
			         number);
			return ST_OK;
		}
		if (journal_read_line(j, of_line, number, read, arg, e))
			return ST_FAILED;
		*good = end;
	}
	return ST_OK;
}

char *
st_journal_identity(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *identity = NULL;
	size_t room = 0;
	const ssize_t n = file ? getline(&line, &room, file) : -1;
	if (n > 0 && line[n - 1] == '\n') {
		line[n - 1] = '\0';
		const char *text = text_of_line(line);
		if (text && !strncmp(text, format, sizeof format - 1))
			identity = strdup(text + sizeof format - 1);
	}
	free(line);
	if (file)
		fclose(file);
	return identity;
}

/* ---- writing ---- */

static st_status
journal_write_all(struct st_journal *j, const char *line, struct st_error *e)
{
	size_t n = strlen(line), done = 0;
	while (done < n) {
		ssize_t wrote = write(j->fd, line + done, n - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return journal_failed(j, "write", e);
		done += (size_t)wrote;
	}
	if (j->unsynced)
		return ST_OK;
	/* A pipe or a device keeps nothing, and is no reason to end. */
	return fdatasync(j->fd) && errno != EINVAL && errno != EROFS ? journal_failed(j, "write", e)
	                                                             : ST_OK;
}

/* A file that is too large is an error, and not the end of Strobe. */
static st_status
journal_write_line(struct st_journal *j, const char *line, struct st_error *e)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;
	sigaction(SIGXFSZ, &ignore, &before);
	const st_status status = journal_write_all(j, line, e);
	sigaction(SIGXFSZ, &before, NULL);
	return status;
}

static st_status
journal_begin(struct st_journal *j, const char *wanted, st_journal_reader read, void *arg,
              struct st_error *e)
{
	size_t size, good;
	char *text = read_file(j, &size, e);
	if (!text)
		return ST_FAILED;
	st_status status = check_first(j, text, wanted, &good, e);
	if (!status && good)
		status = journal_read_lines(j, text, size, &good, read, arg, e);
	else if (!status && size)
		snprintf(j->dropped, sizeof j->dropped,
		         "the first line of the journal was not written whole");
	free(text);
	if (!status && good < size && ftruncate(j->fd, (off_t)good))
		status = journal_failed(j, "write", e);
	return status || good ? status : journal_write_line(j, wanted, e);
}

/* The process that has locked the file, by /proc/locks; 0: it is not known. */
static long
journal_owner(const struct st_journal *j)
{
	FILE *locks = fopen("/proc/locks", "re");
	char *line = NULL;
	size_t room = 0;
	struct stat st;
	long found = 0, pid;
	unsigned on, of; /* the device */
	unsigned long inode;
	while (locks && !found && !fstat(j->fd, &st) && getline(&line, &room, locks) > 0)
		if (sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%lu", &pid, &on, &of, &inode) == 4 &&
		    inode == st.st_ino && makedev(on, of) == st.st_dev && pid > 0)
			found = pid;
	free(line);
	if (locks)
		fclose(locks);
	return found;
}

static st_status
journal_in_use(const struct st_journal *j, struct st_error *e)
{
	const long owner = journal_owner(j);
	char process[64] = "";
	if (owner)
		snprintf(process, sizeof process, " (process %ld)", owner);
	return st_fail(e, ST_EXIT_FAILED,
	               "the journal %s is in use: another strobe%s executes this experiment; wait "
	               "until it has ended, or end it",
	               j->path, process);
}

st_status
st_journal_open(struct st_journal *j, const char *path, const char *identity,
                st_journal_reader read, void *arg, struct st_error *e)
{
	*j = (struct st_journal){.fd = -1, .path = path};
	if (strchr(identity, '\n'))
		return st_fail(e, ST_EXIT_USAGE,
		               "the journal %s cannot have a newline in what it is of", path);
	j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (j->fd < 0)
		return journal_failed(j, "open", e);
	if (flock(j->fd, LOCK_EX | LOCK_NB)) {
		st_status status = journal_in_use(j, e);
		st_journal_close(j);
		return status;
	}
	char *wanted = first_line(identity);
	st_status status = wanted ? journal_begin(j, wanted, read, arg, e)
	                          : st_fail(e, ST_EXIT_FAILED, "no memory left for the journal");
	free(wanted);
	if (status)
		st_journal_close(j);
	return status;
}

st_status
st_journal_add(struct st_journal *j, size_t variant, size_t repetition, const char *result,
               struct st_error *e)
{
	char *text = st_text_of("%zu %zu %s", variant, repetition, result);
	char *line = text ? journal_line_of(text) : NULL;
	free(text);
	st_status status = line ? journal_write_line(j, line, e)
	                        : st_fail(e, ST_EXIT_FAILED, "no memory left for the journal");
	free(line);
	return status;
}

void
st_journal_close(struct st_journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}
