// Stages the built program as the package that is installed, in `package/` or in the folder that is named: without scripts
// and development dependencies, of which npm would warn whoever installs it, and with links that work on the package's page.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryOf, withAbsoluteLinks, withLinks } from './repository.mjs';

const root = join(import.meta.dirname, '..');
const folder = process.argv[2] ?? join(root, 'package');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const part of ['bin', 'dist', 'docs', 'README.md', 'LICENSE'])
  cpSync(join(root, part), join(folder, part), { recursive: true });
const {
  scripts: _,
  devDependencies: __,
  allowScripts: ___,
  ...manifest
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(withLinks(manifest), null, 2)}\n`);
if (repositoryOf(manifest)) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  writeFileSync(join(folder, 'README.md'), withAbsoluteLinks(readme, manifest));
}

// Whatever the umask, so that two packages of one source are the same.
for (const name of readdirSync(folder, { recursive: true })) {
  const path = join(folder, name);
  chmodSync(path, statSync(path).isDirectory() || name === join('bin', 'runctl.js') ? 0o755 : 0o644);
}
