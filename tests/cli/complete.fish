# SPDX-License-Identifier: GPL-3.0-or-later
# usage: fish complete.fish SCRIPT LINE...
# For each line "== LINE" and what is offered at its end, without the descriptions.
source $argv[1]
for line in $argv[2..]
    echo "== $line"
    complete -C "$line" | string replace -r '\t.*' ''
end
exit 0
