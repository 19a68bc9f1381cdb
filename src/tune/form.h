/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The form of a study's file. */
#ifndef STROBE_TUNE_FORM_H
#define STROBE_TUNE_FORM_H

enum { ST_STUDY_VERSION = 1 };

#endif
