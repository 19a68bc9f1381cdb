# SPDX-License-Identifier: GPL-3.0-or-later
# fish completion for strobe; made by: strobe help --completion fish

# The first word typed before the cursor is command $argv[1]; without an argument: there is none yet.
function __strobe_in
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end

# So it is, and its options have not ended where another program begins.
function __strobe_at
    __strobe_in $argv[1]; and not __strobe_program >/dev/null
end

# Option --$argv[1], which is not offered, has been typed.
function __strobe_typed
    set -l token (commandline -ct)
    contains -- --$argv[1] (commandline -opc) (string replace -r '=.*' '' -- "$token")
end

# Prints the program that strobe is to run and its arguments before the cursor, one a line. Fails when there is none.
function __strobe_program
    set -l words (commandline -opc)
    set -l command $words[2]
    contains -- "$command" $__strobe_running; or return 1
    set -e words[1..2]
    while set -q words[1]
        set -l word $words[1]
        switch $word
            case --
                set -e words[1]
                break
            case '--*=*'
            case '--*'
                contains -- $command/$word $__strobe_valued; and set -e words[1]
            case '-?*'
                # Of letters in a group the first with a value takes the rest, or the next word.
                set -l letters (string split '' -- (string sub -s 2 -- $word))
                while set -q letters[1]
                    if contains -- $command/-$letters[1] $__strobe_valued
                        set -q letters[2]; or set -e words[1]
                        break
                    end
                    set -e letters[1]
                end
            case '*'
                break
        end
        set -e words[1]
    end
    set -q words[1]; or return 1
    printf '%s\n' $words
end

function __strobe_complete_program
    set -l words (__strobe_program)
    set -l token (commandline -ct)
    if set -q words[1]; or not string match -q -- '-*' "$token"
        __fish_complete_subcommand --commandline $words "$token"
    end
end

# The value that is being typed.
function __strobe_value
    set -l token (commandline -ct)
    string replace -r '^--[^=]*=' '' -- "$token"
end

# The arguments, each behind what the list that is being typed already has.
function __strobe_list
    set -l before (__strobe_value | string replace -r '[^,]*$' '')
    printf '%s\n' "$before"$argv
end

# The file of a tool, which has a slash.
function __strobe_tool_file
    set -l value (__strobe_value)
    string match -q -- '*/*' "$value"; and __fish_complete_path "$value"
end

complete -c strobe -f
complete -c strobe -n '__strobe_in' -s h -l help -d 'explain strobe'
complete -c strobe -n '__strobe_in' -s V -l version -d 'print the version'

# @tables@
