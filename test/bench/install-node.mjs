import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Installs a version of Node from npm's `node` package below the folder, and returns the path of the executable. */
export function installNode(version, folder) {
  const prefix = join(folder, version);
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', `node@${version}`];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`node@${version} cannot be installed: ${stderr}`);
  return join(prefix, 'node_modules/node/bin/node');
}
