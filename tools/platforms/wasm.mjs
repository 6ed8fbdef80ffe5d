// SPDX-FileCopyrightText: 2026 The kwire authors
// SPDX-License-Identifier: Apache-2.0
// Runs pytest in Pyodide: node wasm.mjs PLACE PACKAGES TREE ARGUMENT...
import { createRequire } from "node:module";

const [place, packages, tree, ...args] = process.argv.slice(2);
const { loadPyodide } = createRequire(`${place}/`)("pyodide");
const pyodide = await loadPyodide();
for (const folder of [packages, tree]) {
  pyodide.FS.mkdirTree(folder);
  pyodide.mountNodeFS(folder, folder);
}
pyodide.globals.set("arguments", pyodide.toPy(args));
process.exitCode = pyodide.runPython(`
import os, sys
sys.path[:0] = [${JSON.stringify(tree + "/src")}, ${JSON.stringify(packages)}]
os.chdir(${JSON.stringify(tree)})
import pytest
int(pytest.main(list(arguments)))
`);
