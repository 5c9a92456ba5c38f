// The end-to-end tests of the built program on every Node that it supports, each from npm's `node` package.
// `npm run stress -- matrix [versions]`, by default the oldest and every line since.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installNode } from './install-node.mjs';

const root = join(import.meta.dirname, '../..');
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20.19', '22', '24', '26'];
const folder = mkdtempSync(join(tmpdir(), 'runctl-matrix-'));
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/e2e', 'test/program'];
const failures = [];
try {
  for (const version of versions) {
    const node = installNode(version, folder);
    const name = `Node ${run(node, ['--version']).stdout.trim()}`;
    const warnings = warningsOf(node);
    const { status } = run(node, vitest, { stdio: 'inherit' });
    if (warnings) failures.push(`${name} warns: ${warnings}`);
    if (status !== 0) failures.push(`${name}: the end-to-end tests failed`);
    console.log(`${name}: ${status === 0 && !warnings ? 'good' : 'bad'}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

/** What Node itself says of the emulator, a run and writing a setting: deprecations and the like. */
function warningsOf(node) {
  const env = {
    PATH: process.env.PATH,
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
    NODE_OPTIONS: '--pending-deprecation',
  };
  const program = join(root, 'bin/runctl.js');
  const emulated = ['emulator', '--speed', '20', '--', node, program, 'trigger', 'nightly', '--watch'];
  return [emulated, ['config', 'set', 'project', '00000000-0000-4000-8000-000000000001']]
    .flatMap((args) => run(node, [program, ...args], { env }).stderr.split('\n'))
    .filter((line) => /warning/i.test(line))
    .join('\n');
}

function run(file, args, options = {}) {
  return spawnSync(file, args, { cwd: root, encoding: 'utf8', ...options });
}
