// Leaves in dist/ the code that V8 compiles while the usual commands run: V8 compiles a function when it is first called.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { join, resolve } from 'node:path';
import v8 from 'node:v8';
import { Script } from 'node:vm';

const dist = resolve(process.argv[2]);
const requireHere = createRequire(`${dist}/main.cjs`);
const commands = [
  ['trigger', 'warm'],
  ['status'],
  ['watch'],
  ['result'],
  ['list'],
  ['explain', '12'],
  ['__complete', 'bash', 'runctl status '],
  ['status', '--no'],
];

const scripts = new Map();
function load(id) {
  if (!/^\.\/(process|undici)\.cjs$/.test(id)) return requireHere(id);
  const filename = join(dist, id);
  // The name stands in the code, as the path of this machine must not.
  const script = new Script(Module.wrap(readFileSync(filename, 'latin1')), { filename: id });
  scripts.set(filename, script);
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, load, loaded, filename, dist);
  return loaded.exports;
}

// V8 would refuse code that was compiled under the flag which the program sets.
v8.setFlagsFromString = () => {};
const { runProcess } = load('./process.cjs');
process.exit = next;
next();

function next() {
  const command = commands.shift();
  if (command) {
    process.argv.splice(2, Infinity, ...command);
    return runProcess();
  }
  const kind = `${process.versions.v8}-${process.arch}`;
  for (const [path, script] of scripts) writeFileSync(`${path}.${kind}`, script.createCachedData());
  process.reallyExit(0);
}
