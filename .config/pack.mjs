// A file costs a start a quarter of a millisecond to find and read, and a command needs twenty of the small ones that
// esbuild splits the program into. So what is needed together becomes one file, in which each piece is a function.

import { basename } from 'node:path';

/**
 * The files of dist/, code by name. `pieces` are the files that esbuild made, as CommonJS; `metafile` is what it tells of
 * them. `together` names files and the sources that share them with all they import, in the order in which they are needed;
 * the first is run. Every other source that is imported dynamically becomes a file with what is left for it.
 */
export function pack(pieces, metafile, together) {
  const outputs = Object.fromEntries(
    Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]),
  );
  const entries = Object.keys(outputs).filter((name) => outputs[name].entryPoint);
  const groups = Object.entries(together).map(([file, sources]) => ({
    file: `${file}.cjs`,
    names: entries.filter((name) => sources.includes(outputs[name].entryPoint)),
  }));
  for (const name of entries.filter((name) => !groups.some(({ names }) => names.includes(name)))) {
    groups.push({ file: name.replace(/-\w{8}(?=\.cjs$)/, ''), names: [name] });
  }
  const fileOf = new Map();
  for (const { file, names } of groups) {
    for (const name of names.flatMap((entry) => withImports(entry, outputs))) {
      if (!fileOf.has(name)) fileOf.set(name, file);
    }
  }

  const files = {};
  for (const [name, file] of fileOf) {
    const code = pieces[name].replace(/\brequire\("\.\/([\w.-]+)"\)/g, (_, other) =>
      fileOf.get(other) === file ? `loadPiece("${other}")` : `require("./${fileOf.get(other)}")("${other}")`,
    );
    // In brackets V8 compiles a function at once, rather than look through it first and compile it when it is called.
    files[file] = `${files[file] ?? loader}pieces["${name}"] = (function (module, exports) {\n${code}});\n`;
  }
  const [{ file, names }] = groups;
  files[file] += `loadPiece("${names[0]}");\n`;
  return files;
}

const withImports = (name, outputs) => [
  name,
  ...outputs[name].imports
    .filter(({ kind, external }) => kind === 'import-statement' && !external)
    .flatMap(({ path }) => withImports(basename(path), outputs)),
];

const loader = `"use strict";
const pieces = {};
const loaded = {};
function loadPiece(name) {
  if (loaded[name]) return loaded[name].exports;
  const module = (loaded[name] = { exports: {} });
  pieces[name](module, module.exports);
  return module.exports;
}
module.exports = loadPiece;
`;
