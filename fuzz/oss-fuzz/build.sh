#!/bin/bash -eu
# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds every target as a single file, in the image of a fuzzing service. The file also
# contains kwire's sources as data, because a target imports kwire a second time with the
# Python engine.

cd "$SRC/kwire"
pip3 install ".[numpy,compression,arrow]"

# Generate seeds now, because the test vectors are not available in later steps.
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
