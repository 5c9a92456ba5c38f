import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { execPath } from 'node:process';
import type { Env } from '../context.ts';
import { type Finding, type Machine, ok, warning } from './finding.ts';

/** The `PATH` that cron gives a job on Debian and most other systems. */
const cronFolders = ['/usr/bin', '/bin'];

export function* checkShell({ context: { env } }: Machine): Generator<Finding> {
  yield cronFinding(env);
}

function cronFinding({ PATH = '' }: Env): Finding {
  const missing = ['runctl', 'node'].filter((name) => !folderOf(name, cronFolders));
  if (missing.length === 0) return ok('cron_path', `cron finds runctl and node in ${cronFolders.join(':')}`);
  const folders = missing.map((name) => folderOf(name, [...PATH.split(delimiter), dirname(execPath)]));
  const path = [...new Set(folders), ...cronFolders].join(':');
  return warning(
    'cron_path',
    `cron can't find ${missing.join(' and ')} in ${cronFolders.join(':')}`,
    folders.includes(undefined)
      ? 'install runctl with `npm install --global`'
      : `begin the crontab with \`PATH=${path}\``,
  );
}

const folderOf = (name: string, folders: readonly string[]) =>
  folders.find((folder) => folder !== '' && isAccessible(join(folder, name), constants.X_OK));

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
