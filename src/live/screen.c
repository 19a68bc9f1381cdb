/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"

/* Control sequences that all common terminals understand, the Linux console among them. */
#define SAVE "\0337"
#define RESTORE "\0338"
#define WHOLE_SCROLLS "\033[r"
#define NO_WRAP "\033[?7l"
#define WRAP "\033[?7h"
#define ERASE_BELOW "\033[J"
/* Erased for terminals that have one screen only. */
#define ERASE_ALL "\033[H" ERASE_BELOW
#define OWN_SCREEN "\033[?1049h\033[?25l" ERASE_ALL
#define NO_OWN_SCREEN ERASE_ALL "\033[?25h\033[?1049l"

enum { LEAST_ROWS = 6, LEAST_COLUMNS = 30 };
enum { OWN_TERMINAL = 5 }; /* number of /dev/tty among devices */

/* The one that a signal gives back. */
static struct st_screen *shown;

/* ---- giving back ---- */

/* Also in handlers of signals. */
static void
restore(struct st_screen *s)
{
	static const char shared[] = SAVE WHOLE_SCROLLS RESTORE ERASE_BELOW, own[] = NO_OWN_SCREEN;
	sigset_t block, old;
	if (!s->up)
		return;
	s->up = false;
	/* In the background this would stop us. */
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &old);
	if (s->own_description)
		fcntl(s->fd, F_SETFL, O_RDWR); /* this is waited for */
	ssize_t n = s->shared ? write(s->fd, shared, sizeof shared - 1)
	                      : write(s->fd, own, sizeof own - 1);
	(void)n;
	if (s->keys)
		tcsetattr(s->fd, TCSADRAIN, &s->before);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void
on_fatal(int signo)
{
	if (shown)
		restore(shown);
	raise(signo); /* its default action */
}

/* Those that nobody else looks at. */
static void
catch_fatal(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,  SIGABRT, SIGPIPE,
	                              SIGALRM, SIGXCPU, SIGINT, SIGTERM, SIGHUP,  SIGQUIT};
	struct sigaction action = {.sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND}, old;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (!sigaction(signals[i], NULL, &old) && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/* ---- opening ---- */

/* A description of our own, so that writing need not wait: the terminal may be held (Ctrl-S), and
 * programs wait for us. */
static int
open_terminal(void)
{
	const int how = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	if (!isatty(STDERR_FILENO))
		return open("/dev/tty", how);
	return open("/proc/self/fd/2", how);
}

/* Whether one of the process' standard streams is the terminal, perhaps by the name that
 * everybody's own has. */
static bool
has_terminal(int fd, pid_t pid, int stream)
{
	char path[64];
	struct stat st, own;
	unsigned number;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, stream);
	if (stat(path, &st) || !S_ISCHR(st.st_mode) || fstat(fd, &own))
		return false;
	return st.st_rdev == own.st_rdev || st.st_rdev == makedev(OWN_TERMINAL, 0) ||
	       (!ioctl(fd, TIOCGDEV, &number) && st.st_rdev == number);
}

st_status
st_screen_open(struct st_screen *s, pid_t pid, struct st_error *e)
{
	const char *term = getenv("TERM");
	*s = (struct st_screen){.fd = open_terminal(), .own_description = true};
	if (s->fd < 0 && isatty(STDERR_FILENO))
		*s = (struct st_screen){.fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
	if (s->fd < 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "--top needs a terminal, and there is none: leave it out, and look "
		               "at the result");
	if (!term || !*term || !strcmp(term, "dumb")) {
		close(s->fd);
		return st_fail(e, ST_EXIT_USAGE,
		               "--top cannot draw on this terminal (TERM is %s): leave it out, or "
		               "use another",
		               term && *term ? term : "not set");
	}
	s->shared =
	        has_terminal(s->fd, pid, STDOUT_FILENO) || has_terminal(s->fd, pid, STDERR_FILENO);
	s->keys = !has_terminal(s->fd, pid, STDIN_FILENO) && !tcgetattr(s->fd, &s->before);
	return 0;
}

void
st_screen_give_back(struct st_screen *s)
{
	free(s->rest);
	s->rest = NULL;
	s->n_rest = 0;
	restore(s);
	shown = NULL;
}

void
st_screen_close(struct st_screen *s)
{
	if (s->fd < 0)
		return;
	st_screen_give_back(s);
	close(s->fd);
	s->fd = -1;
}

/* ---- size ---- */

static void
size_of(const struct st_screen *s, size_t *rows, size_t *columns)
{
	struct winsize size = {0};
	ioctl(s->fd, TIOCGWINSZ, &size);
	*rows = size.ws_row ? size.ws_row : 24;
	*columns = size.ws_col ? size.ws_col : 80;
}

bool
st_screen_changed(const struct st_screen *s)
{
	size_t rows, columns;
	size_of(s, &rows, &columns);
	return s->up && (rows != s->rows || columns != s->columns);
}

/* A program gets a third of it. */
static size_t
screen_lines_of(const struct st_screen *s, size_t rows)
{
	size_t third = rows / 3 > 3 ? rows / 3 : 3;
	return s->shared ? rows - third : rows;
}

/* The terminal is another's while we are in the background. */
bool
st_screen_room(struct st_screen *s, size_t *lines, size_t *columns)
{
	size_t rows;
	pid_t foreground = tcgetpgrp(s->fd);
	if (foreground >= 0 && foreground != getpgrp())
		return false;
	size_of(s, &rows, columns);
	*lines = screen_lines_of(s, rows);
	if (rows >= LEAST_ROWS && *columns >= LEAST_COLUMNS) {
		--*columns; /* in the last one terminals go on in different ways */
		return true;
	}
	st_screen_give_back(s);
	return false;
}

/* ---- drawing ---- */

bool
st_screen_flush(struct st_screen *s)
{
	while (s->n_rest) {
		ssize_t n = write(s->fd, s->rest, s->n_rest);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0)
			break;
		s->n_rest -= (size_t)n;
		memmove(s->rest, s->rest + n, s->n_rest);
	}
	free(s->rest);
	s->rest = NULL;
	s->n_rest = 0;
	return true;
}

/* Makes room below what the program has written; where it goes on stays where it is. */
static void
divide(const struct st_screen *s, FILE *out)
{
	if (s->up)
		fputs(SAVE WHOLE_SCROLLS RESTORE, out);
	fputs(ERASE_BELOW, out);
	for (size_t i = 0; i < s->lines; i++)
		fputs("\033D", out); /* down, scrolling, in the same column */
	fprintf(out, "\033[%zuA" SAVE "\033[1;%zur" RESTORE, s->lines, s->rows - s->lines);
}

/* The terminal becomes what the view needs; again, when its size has changed. */
static void
screen_take(struct st_screen *s, FILE *out)
{
	size_t rows, columns;
	size_of(s, &rows, &columns);
	if (s->up && rows == s->rows && columns == s->columns)
		return;
	s->rows = rows;
	s->columns = columns;
	s->lines = screen_lines_of(s, rows);
	if (s->shared)
		divide(s, out);
	else
		fputs(s->up ? ERASE_BELOW : OWN_SCREEN, out);
	if (s->keys && !s->up) {
		struct termios now = s->before;
		now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		now.c_cc[VMIN] = now.c_cc[VTIME] = 0;
		tcsetattr(s->fd, TCSANOW, &now);
	}
	if (s->own_description)
		fcntl(s->fd, F_SETFL, O_RDWR | O_NONBLOCK);
	shown = s;
	s->up = true;
	catch_fatal();
}

/* All of it in one piece, between two of the program's. */
void
st_screen_draw(struct st_screen *s, const char *text)
{
	struct st_text built;
	FILE *out = s->rest ? NULL : st_text_begin(&built);
	if (!out)
		return;
	screen_take(s, out);
	size_t first = s->rows - s->lines + 1;
	fputs(SAVE NO_WRAP "\033[0m", out); /* some characters are wide */
	for (size_t i = 0; i < s->lines; i++) {
		size_t n = strcspn(text, "\n");
		fprintf(out, "\033[%zu;1H%.*s\033[K", first + i, (int)n, text);
		text += n + (text[n] == '\n');
	}
	fputs(WRAP RESTORE, out);
	s->rest = st_text_end(&built);
	s->n_rest = s->rest ? built.n : 0;
	st_screen_flush(s);
}

char
st_screen_key(struct st_screen *s)
{
	char key;
	return s->keys && s->up && read(s->fd, &key, 1) == 1 ? key : 0;
}
