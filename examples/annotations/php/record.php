<?php
// SPDX-License-Identifier: GPL-3.0-or-later
/**
 * Records calls of PHP functions in the format of docs/annotations-records.md, for strobe annotate.
 *
 * usage: php record.php OUTPUT FUNCTION[,FUNCTION...] SCRIPT [ARGUMENT...]
 *
 * Files that the script includes are changed while PHP reads them, and so is the script: `function f($a) {...}` becomes a function
 * f that calls the original one and records its arguments, its time, and the memory that PHP has more at its end than at its
 * beginning. Functions and methods with the names are recorded, except static ones, and those that take or return references.
 */

final class StrobeRecords
{
    private static string $output;
    private static array $calls = []; // by function: lists of [time, memory, features]
    private static array $kinds = []; // by function and feature: kind, how, path
    private static array $names = [];
    private static int $wrappers = 0;
    private static int $own = 0; // memory of the records so far
    private static int $offset = 0; // memory that a call seems to take if it takes none
    private static int $left = 0; // memory of a call's record that is free again when its caller ends

    public static function begin(string $output, string $names): void
    {
        self::$output = $output;
        self::$names = array_flip(explode(',', $names));
        for ($i = 0; $i < 2; $i++)
            self::call('', fn(int $n) => null, ['n'], [$i]);
        self::$offset = self::$calls[''][1][1];
        self::call('', fn(int $n) => self::call('', fn(int $n) => null, ['n'], [$n]), ['n'], [2]);
        self::$left = -self::$calls[''][3][1];
        self::$calls = self::$kinds = [];
        register_shutdown_function([self::class, 'write']);
    }

    /** Calls a function, and records the call. A call that an exception ends gives no record. */
    public static function call(string $name, callable $function, array $parameters, array $arguments)
    {
        $first = memory_get_usage();
        $values = [];
        foreach ($arguments as $i => $argument)
            if (is_string($i) || isset($parameters[$i]))
                self::features($name, is_string($i) ? $i : $parameters[$i], $argument, $values);
        $memory = memory_get_usage();
        self::$own += $memory - $first;
        $before = self::$own;
        $begin = hrtime(true);
        $result = $function(...$arguments);
        $time = hrtime(true) - $begin;
        $last = memory_get_usage();
        self::$calls[$name][] = [$time, $last - $memory - (self::$own - $before) - self::$offset, $values];
        self::$own += memory_get_usage() - $last - self::$left;
        return $result;
    }

    private static function features(string $name, string $parameter, $value, array &$values): void
    {
        if (is_int($value) || is_float($value))
            self::feature($name, $values, $parameter, 'number', 'value', "\$$parameter", $value);
        elseif (is_bool($value))
            self::feature($name, $values, $parameter, 'flag', 'value', "\$$parameter", (int)$value);
        elseif (is_string($value))
            self::feature($name, $values, $parameter . '_length', 'number', 'length', "strlen(\$$parameter)", strlen($value));
        elseif (is_countable($value))
            self::feature($name, $values, $parameter . '_count', 'number', 'count', "count(\$$parameter)", count($value));
        if (is_object($value))
            self::feature($name, $values, $parameter . '_class', 'category', 'class', "get_class(\$$parameter)", get_class($value));
    }

    private static function feature(string $name, array &$values, string $feature, string $kind, string $how, string $path, $value): void
    {
        self::$kinds[$name][$feature] ??= "$feature,$kind,parameter,$how," . self::quoted($path);
        $values[$feature] = self::quoted((string)$value);
    }

    private static function quoted(string $text): string
    {
        return strpbrk($text, ",\"\n#") === false ? $text : '"' . str_replace('"', '""', $text) . '"';
    }

    public static function write(): void
    {
        @stream_wrapper_restore('file');
        if (!($out = @fopen(self::$output, 'w'))) {
            $cause = preg_replace('/.*: /', '', error_get_last()['message'] ?? 'unknown error');
            fwrite(STDERR, 'record.php: cannot write ' . self::$output . ": $cause; choose another OUTPUT\n");
            exit(1);
        }
        fwrite($out, "#strobe-records,1\n#program," . implode(',', array_map(self::quoted(...), $_SERVER['argv'])) . "\n#made,"
            . gmdate('Y-m-d\TH:i:s\Z', $_SERVER['REQUEST_TIME']) . "\n");
        $id = 0;
        foreach (self::$calls as $name => $calls) {
            $id++;
            $features = self::$kinds[$name] ?? [];
            fwrite($out, "#function,$id," . self::quoted($name) . "\n#metric,$id,time,ns\n#metric,$id,memory,bytes\n");
            foreach ($features as $line)
                fwrite($out, "#feature,$id,$line\n");
            foreach ($calls as [$time, $memory, $values]) {
                fwrite($out, "$id,$time,$memory");
                foreach (array_keys($features) as $feature)
                    fwrite($out, ',' . ($values[$feature] ?? ''));
                fwrite($out, "\n");
            }
        }
        fclose($out);
    }

    // ---- wrappers ----

    /** The source with a wrapper before each function that is to be recorded. */
    public static function change(string $source): string
    {
        $tokens = PhpToken::tokenize($source);
        $out = '';
        $is_static = false;
        foreach ($tokens as $i => $token) {
            if (in_array($token->text, [';', '{', '}'], true))
                $is_static = false;
            $is_static = $is_static || $token->is([T_STATIC, T_ABSTRACT]);
            $parameters = $token->is(T_FUNCTION) && !$is_static ? self::parameters($tokens, $i + 1) : null;
            if ($parameters === null) {
                $out .= $token->text;
            } else {
                $name = $tokens[$i + 2]->text;
                $original = $name . '__recorded_' . ++self::$wrappers; // a method of a class must not be that of its parent
                $out .= self::wrapper($name, $original, $parameters) . 'function';
                $tokens[$i + 2]->text = $original;
            }
        }
        return $out;
    }

    /** The names of the parameters of the function whose name follows token i; null: it is not to be recorded, or cannot be. */
    private static function parameters(array $tokens, int $i): ?array
    {
        $names = [];
        $depth = 0;
        $text = fn(int $at) => isset($tokens[$at]) ? $tokens[$at]->text : ';';
        if (!$tokens[$i]->is(T_WHITESPACE) || !isset(self::$names[$text($i + 1)]) || $text($i + 2) !== '(')
            return null;
        for ($i += 2; $depth || $text($i) !== '{'; $i++) {
            if ($text($i) === '&' || (!$depth && $text($i) === ';'))
                return null; // references, or no body
            $depth += ($text($i) === '(') - ($text($i) === ')');
            if ($tokens[$i]->is(T_VARIABLE))
                $names[] = substr($text($i), 1);
        }
        return $names;
    }

    private static function wrapper(string $name, string $original, array $parameters): string
    {
        return "function $name(...\$arguments) { return \\StrobeRecords::call(__METHOD__, isset(\$this) ? [\$this, '$original'] : __NAMESPACE__ . '\\$original', ["
            . implode(', ', array_map(fn($parameter) => "'$parameter'", $parameters)) . '], $arguments); } ';
    }
}

/** Reads files as PHP does, and changes those that are included. */
final class StrobeFiles
{
    public $context;
    private $file;

    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool
    {
        $included = (bool)($options & 0x80); // STREAM_OPEN_FOR_INCLUDE
        $this->file = self::plainly(fn() => $included ? fopen('php://memory', 'w+') : fopen($path, $mode, (bool)($options & STREAM_USE_PATH)));
        if ($included && ($source = self::plainly(fn() => file_get_contents($path))) !== false) {
            fwrite($this->file, StrobeRecords::change($source));
            rewind($this->file);
        }
        return (bool)$this->file && (!$included || $source !== false);
    }

    /** Does something with PHP's own files. */
    private static function plainly(callable $do)
    {
        stream_wrapper_restore('file');
        $result = $do();
        stream_wrapper_unregister('file');
        stream_wrapper_register('file', self::class);
        return $result;
    }

    public function stream_read(int $n) { return fread($this->file, $n); }
    public function stream_write(string $data) { return fwrite($this->file, $data); }
    public function stream_eof(): bool { return feof($this->file); }
    public function stream_tell() { return ftell($this->file); }
    public function stream_seek(int $offset, int $from): bool { return fseek($this->file, $offset, $from) === 0; }
    public function stream_stat() { return fstat($this->file); }
    public function stream_flush(): bool { return fflush($this->file); }
    public function stream_close(): void { fclose($this->file); }
    public function stream_lock(int $operation): bool { return flock($this->file, $operation); }
    public function stream_truncate(int $size): bool { return ftruncate($this->file, $size); }
    public function stream_set_option(int $option, int $first, int $second): bool { return false; }
    public function url_stat(string $path, int $flags) { return self::plainly(fn() => @stat($path)); }
    public function unlink(string $path): bool { return self::plainly(fn() => unlink($path)); }
    public function rename(string $from, string $to): bool { return self::plainly(fn() => rename($from, $to)); }
    public function mkdir(string $path, int $mode, int $options): bool { return self::plainly(fn() => mkdir($path, $mode, (bool)($options & STREAM_MKDIR_RECURSIVE))); }
    public function rmdir(string $path, int $options): bool { return self::plainly(fn() => rmdir($path)); }

    public static function begin(): void
    {
        stream_wrapper_unregister('file');
        stream_wrapper_register('file', self::class);
    }
}

if ($argc < 4) {
    fwrite(STDERR, "usage: php record.php OUTPUT FUNCTION[,FUNCTION...] SCRIPT [ARGUMENT...]\n");
    exit(2);
}
if (($script = realpath($argv[3])) === false) {
    fwrite(STDERR, "record.php: there is no script '$argv[3]'\n");
    exit(2);
}
// The script may change the folder before the records are written.
StrobeRecords::begin($argv[1][0] === '/' ? $argv[1] : getcwd() . '/' . $argv[1], $argv[2]);
$_SERVER['argv'] = $argv = array_slice($argv, 3);
$_SERVER['argc'] = $argc = count($argv);
StrobeFiles::begin();
require $script;
