/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of Strobe: the one of meson.build. */
#ifndef STROBE_PROFILE_VERSION_H
#define STROBE_PROFILE_VERSION_H

#ifndef ST_VERSION
#define ST_VERSION "0.1.0"
#endif

#endif
