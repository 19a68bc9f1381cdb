<?php
// SPDX-License-Identifier: GPL-3.0-or-later
/**
 * The two functions of the paper's section 6.1, in small: the answer to a request for the properties of files, and the hooks that
 * run before a file is written. Of both, the costs are known: see tests/annotate/test_php.py.
 *
 * usage: php webdav.php REQUESTS
 */

final class Response
{
    public function __construct(public string $href, public ?Response $next) {}
}

/** The answers for the files, each name once: to find out, each name is compared with all before it. */
function generateMultiStatus(array $files)
{
    $answer = null;
    foreach ($files as $file) {
        for ($known = $answer; $known && $known->href !== $file; $known = $known->next);
        if (!$known)
            $answer = new Response($file, $answer);
    }
    return $answer;
}

final class Hooks
{
    private int $requests = 0;

    /** Whether a hook has work depends on what was requested before, not on the path. */
    public function emit_file_hooks_pre(string $path): int
    {
        $rounds = [40, 40, 400, 40, 400, 40, 1600, 40][$this->requests++ * 5 % 8];
        $sum = 0;
        for ($i = 0; $i < $rounds; $i++)
            $sum += crc32((string)$i);
        return $sum;
    }
}

$hooks = new Hooks;
mt_srand(1);
for ($request = 0; $request < (int)($argv[1] ?? 100); $request++) {
    $files = [];
    for ($i = mt_rand(1, 120); $i > 0; $i--)
        $files[] = "/files/user/$request/document-$i.txt";
    $answer = generateMultiStatus($files);
    $hooks->emit_file_hooks_pre(str_repeat('d/', mt_rand(1, 40)) . 'file');
    unset($answer);
}
echo "$request requests\n";
