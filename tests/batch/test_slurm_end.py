#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gate removes the folder of its campaign when its pilots have ended, with a Slurm of four scripts: test_slurm_end.py STROBE."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE = os.path.abspath(sys.argv.pop(1))
SCRIPTS = {
    "sinfo": "echo 'test* n1'",
    # The pilot ends some time after it was cancelled, and writes its log until then.
    "sbatch": """for word; do case $word in --chdir=*) folder=${word#*=};; --wrap=*) wrap=${word#*=};; esac; done
cd "$folder" && setsid "$AT/pilot" "$wrap" > "$folder/pilot-1.log" 2>&1 < /dev/null &
echo 1""",
    "pilot": """sh -c "$1" & echo $! > "$AT/worker"
wait $!
sleep 1
echo end > pilot-late.log
touch "$AT/ended" """,
    # It fails at first, and again when the pilot has been cancelled.
    "squeue": """if [ ! -e "$AT/asked" ] || { [ -e "$AT/cancelled" ] && [ ! -e "$AT/ended" ]; }; then touch "$AT/asked"; echo Socket timed out; exit 1; fi
[ -e "$AT/ended" ] || echo 1_0""",
    "scancel": 'touch "$AT/cancelled"; kill "$(cat "$AT/worker")" 2> /dev/null; true',
}


class End(unittest.TestCase):
    def test_folder(self):
        with tempfile.TemporaryDirectory(prefix="strobe-slurm-end-") as name:
            at, folder = Path(name), Path(name, "work")
            folder.mkdir()
            for script, text in SCRIPTS.items():
                (at / script).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                (at / script).chmod(0o755)
            environment = {**os.environ, "AT": name, "PATH": f"{name}:{os.environ['PATH']}"}
            done = subprocess.run([STROBE, "gate", "--base", "true", "--target", "true", "--counts", "0", "--pairs", "2", "--on", "slurm", "--noise", "0"], cwd=folder,
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=240)
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            self.assertTrue((at / "ended").exists())
            self.assertEqual(os.listdir(folder), [])

    def test_no_answer(self):
        """Nothing was measured, so nothing is kept."""
        with tempfile.TemporaryDirectory(prefix="strobe-slurm-end-") as name:
            at, folder = Path(name), Path(name, "work")
            folder.mkdir()
            (at / "sinfo").write_text("#!/bin/sh\necho Unknown host >&2\nexit 1\n", encoding="utf-8")
            (at / "sinfo").chmod(0o755)
            for words in (), ("--campaign", "named"):
                done = subprocess.run([STROBE, "tune", "--on", "slurm", *words, "--", "/bin/true"], cwd=folder, env={**os.environ, "PATH": f"{name}:{os.environ['PATH']}"},
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=240)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (125, "", "strobe: sinfo failed: Unknown host\n"))
                self.assertEqual(os.listdir(folder), list(words[1:]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
