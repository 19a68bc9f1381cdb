# SPDX-License-Identifier: GPL-3.0-or-later
"""Python's own test-suite, the modules that pass on a plain Debian 12, compared test by test."""
from harness.case import case

SUITES = {
    "language": """test_grammar test_syntax test_opcodes test_compile test_exceptions test_exception_group test_generators test_coroutines
        test_scope test_patma test_descr test_class test_funcattrs test_decorators test_with test_yield_from test_dataclasses test_enum test_abc
        test_super test_contextlib test_functools test_typing test_positional_only_arg test_named_expressions test_fstring test_sys_settrace
        test_raise test_traceback test_call test_frame test_code test_peepholer test_dis test_ast test_symtable test_keywordonlyarg""",
    "types": """test_int test_long test_float test_complex test_bool test_bytes test_str test_list test_tuple test_dict test_set test_range
        test_slice test_memoryview test_array test_deque test_collections test_userdict test_types test_struct test_weakref test_gc test_fractions
        test_statistics test_math test_cmath test_random test_operator test_sort test_heapq test_bisect test_itertools test_ordered_dict""",
    "text": """test_re test_string test_textwrap test_unicodedata test_unicode_file test_codecs test_json test_csv test_html test_htmlparser
        test_pyexpat test_sax test_minidom test_tokenize test_difflib test_shlex test_configparser test_format
        test_strftime test_datetime test_zoneinfo test_locale test_gettext test_base64 test_binascii test_urlparse test_email""",
    "io": """test_io test_file test_fileio test_os test_posix test_shutil test_tempfile test_pathlib test_glob test_mmap test_zlib test_gzip
        test_bz2 test_lzma test_zipfile test_tarfile test_pickle test_copy test_marshal test_shelve test_select test_selectors
        test_poll test_epoll test_fcntl test_posixpath test_stat test_memoryio test_bufio""",
    "threads": """test_thread test_threading test_threading_local test_threadedtempfile test_sched test_contextvars test_queue
        test_asyncgen""",
    "signals": "test_signal test_threadsignals test_faulthandler",
    "processes": """test_subprocess test_popen test_wait3 test_wait4 test_fork1 test_posix test_pty test_pwd test_resource test_atexit
        test_cmd_line_script test_script_helper""",
    "network": "test_httplib test_urllib test_wsgiref test_poplib test_httpservers test_imaplib test_ssl",
    "numbers": "test_decimal test_numeric_tower test_hashlib test_hmac test_crypt test_secrets test_audioop test_colorsys test_ctypes",
    "asyncio": "test_asyncio",
    "multiprocessing": "test_multiprocessing_fork",
}
FOLLOWED = ("processes", "multiprocessing")

for suite, modules in SUITES.items():
    follow = "under-all" if suite in FOLLOWED else "under"
    case("python-tests-" + suite, f"""
cd "$TMPDIR"; {follow} /usr/bin/python3 -m test --timeout=900 --junit-xml=tests.xml $(every "$PART" {" ".join(modules.split())}) >log 2>&1
echo "exit $?"; grep '^Tests result' log; /usr/bin/python3 "$HARNESS/junit.py" tests.xml || {{ tail -n 20 log; exit 97; }}""",
         packages="python3 libpython3.11-testsuite", heavy=True, timeout=600)
