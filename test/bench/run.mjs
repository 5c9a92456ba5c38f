// `npm run bench -- <name> [arguments]` and `npm run stress -- <name> [arguments]`: builds the program, then runs the file
// of that name beside this one. programs.json says what each does.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const programs = JSON.parse(readFileSync(join(import.meta.dirname, 'programs.json'), 'utf8'));
const [kind, name, ...args] = process.argv.slice(2);
const names = Object.keys(programs[kind]);
if (names.includes(name)) {
  const run = (command, ...words) => spawnSync(command, words, { stdio: 'inherit' }).status;
  const built = run('npm', 'run', '--silent', 'build');
  process.exitCode = built === 0 ? run(process.execPath, join(import.meta.dirname, `${name}.mjs`), ...args) : built;
} else {
  const lines = names.map((each) => `  npm run ${kind} -- ${each.padEnd(12)}  ${programs[kind][each]}`);
  console.error(lines.join('\n'));
  process.exitCode = 2;
}
