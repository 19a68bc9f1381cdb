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

# The arguments, each behind what is being typed up to the last of the characters $argv[1].
function __strobe_behind
    set -l before (__strobe_value | string replace -r "[^$argv[1]]*\$" '')
    set -q argv[2]; and printf '%s\n' "$before"$argv[2..]
end

# A tool, the options behind the name of one, or its file, which ends in .tool or has a slash.
function __strobe_tool
    set -l value (__strobe_value)
    switch "$value"
        case '*:*'
            __strobe_behind :, (__strobe_tool_options (string replace -r ':.*' '' -- $value))
        case '*/*'
            __fish_complete_path "$value"
        case '*'
            __strobe_TOOL
            set -l files *.tool
            set -q files[1]; and printf '%s\n' $files
    end
end

complete -c strobe -f
complete -c strobe -n '__strobe_in' -s h -l help -d 'explain strobe'
complete -c strobe -n '__strobe_in' -s V -l version -d 'print the version'

# @tables@
