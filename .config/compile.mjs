// Leaves in dist/ the code that V8 compiles while the usual commands run: V8 compiles a function when it is first called.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
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
  for (const [path, script] of scripts) {
    // src/startup/compiled-code.ts has the reasons for the name and for the last bytes.
    const { size, mtimeMs } = statSync(path);
    const name = `${path}.${process.versions.v8}-${process.arch}-${size}-${Math.floor(mtimeMs / 1000)}`;
    writeFileSync(name, Buffer.concat([script.createCachedData(), Buffer.from('runctl')]));
  }
  process.reallyExit(0);
}
