/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A terminal that lines are drawn on, again and again. When a program writes to it meanwhile, they
 * have its lower part, and what the program writes scrolls in the upper part, as if the terminal
 * were smaller; else they have a screen of their own, behind which the terminal stays as it was.
 *
 * It is given back as it was in the end, also when a signal ends us.
 */
#ifndef STROBE_LIVE_SCREEN_H
#define STROBE_LIVE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "base/error.h"

struct st_screen {
	int fd;               /* of the terminal; -1: none */
	bool own_description; /* of it: nobody else writes through that */
	bool shared;          /* with a program */
	bool keys;            /* they are ours */
	bool up;              /* it is as the view needs it */
	struct termios before;
	size_t rows, columns; /* as it was drawn last */
	size_t lines;         /* of the view */
	char *rest;           /* that could not be written yet */
	size_t n_rest;
};

/* Standard error, or else the terminal that controls us; shared: if the process writes there. 0, or
 * -1 with *e when there is none. */
st_status st_screen_open(struct st_screen *s, pid_t pid, struct st_error *e);
void st_screen_close(struct st_screen *s);

/* For a while: st_screen_draw takes it again. */
void st_screen_give_back(struct st_screen *s);
/* Returns whether the screen can be drawn on now and is large enough, and its lines and columns. */
bool st_screen_room(struct st_screen *s, size_t *lines, size_t *columns);
/* Has it got another size since it was drawn on? */
bool st_screen_changed(const struct st_screen *s);
/* As many lines as there is room for. */
void st_screen_draw(struct st_screen *s, const char *text);
/* Goes on with what could not be written. False: there is still something. */
bool st_screen_flush(struct st_screen *s);
/* The next key that was pressed; 0: none. */
char st_screen_key(struct st_screen *s);

#endif
