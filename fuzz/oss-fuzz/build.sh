#!/bin/bash -eu
# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds each target into one file, in the image of a fuzzing service. The sources go
# in as data too: a target imports kwire a second time, as its engine in plain Python.

cd "$SRC/kwire"
pip3 install ".[numpy,compression,arrow]"

# Seeds come from the vectors, which are not there later.
PYTHONPATH=. python3 -m fuzz.seeds "$WORK/seeds"

for target in fuzz/targets/fuzz_*.py; do
  name=$(basename -s .py "$target")
  compile_python_fuzzer "$target" \
    --paths "$SRC/kwire" \
    --collect-submodules kwire \
    --add-data "src/kwire:kwire" \
    --hidden-import numpy --hidden-import pyarrow --hidden-import cramjam
  if [ -f "fuzz/corpus/$name.zip" ]; then
    (cd "$WORK/seeds/$name" && unzip -qo "$SRC/kwire/fuzz/corpus/$name.zip")
  fi
  (cd "$WORK/seeds/$name" && zip -qr "$OUT/${name}_seed_corpus.zip" .)
  if [ -f "fuzz/targets/$name.dict" ]; then
    cp "fuzz/targets/$name.dict" "$OUT/"
  fi
done
