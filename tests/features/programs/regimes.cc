// SPDX-License-Identifier: GPL-3.0-or-later
// The same program in C++.
#include "regimes.c"
