import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { execPath, platform } from 'node:process';
import type { Env } from '../context.ts';
import { type Finding, type Machine, ok, skipped, warning } from './finding.ts';

/** The `PATH` that cron gives a job on Debian and most other systems. */
const cronFolders = ['/usr/bin', '/bin'];

/** The checks of mere conveniences. */
export const shellChecks: readonly string[] = ['completion', 'man_page', 'cron_path'];

export function* checkShell({ context: { env } }: Machine): Generator<Finding> {
  if (platform === 'win32') {
    for (const name of shellChecks) yield skipped(name, 'skipped on Windows');
    return;
  }
  yield completionFinding(env);
  yield manPageFinding(env);
  yield cronFinding(env);
}

const startFiles: Readonly<Record<string, readonly string[]>> = {
  bash: ['.bashrc', '.bash_profile', '.profile'],
  zsh: ['.zshrc'],
  fish: ['.config/fish/config.fish', '.config/fish/completions/runctl.fish'],
};

function completionFinding({ HOME: home, SHELL: path = '' }: Env): Finding {
  const shell = path.replace(/^.*\//, '');
  const files = startFiles[shell];
  if (!home || !files) return skipped('completion', 'skipped: unknown shell');
  const found = files.map((file) => join(home, file)).find((file) => textOf(file).includes('runctl'));
  if (found) return ok('completion', found);
  return warning('completion', `not set up for ${shell}`, '`runctl completion --help`');
}

function textOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

const ownPage = join(import.meta.dirname, 'runctl.1');

function manPageFinding({ MANPATH = '', PATH = '' }: Env): Finding {
  const beside = PATH.split(delimiter).map((folder) => join(dirname(folder), 'share/man'));
  const folders = [...MANPATH.split(delimiter), ...beside, '/usr/share/man', '/usr/local/share/man'];
  const pages = folders
    .filter(Boolean)
    .flatMap((folder) => ['', '.gz'].map((end) => join(folder, `man1/runctl.1${end}`)));
  const found = pages.find((page) => isAccessible(page, constants.R_OK));
  return found ? ok('man_page', found) : warning('man_page', "`man` can't find it", `read it with \`man ${ownPage}\``);
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

export function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
