import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { encodings } from './encodings.ts';
import { projectId } from './scripted-service.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Something to escape for everybody. */
export const key = 'sk-"1\\/+=%&<A>~!?9xyz';
const proxyPasswords = ['proxy-password-1', 'proxy-password-2', 'user:proxy-password-2'];
const spellings = [key, ...proxyPasswords].flatMap((secret) =>
  Object.values(encodings).map((encode) => encode(secret)),
);
/** Limits that end a fault soon. */
export const patience = ['--request-timeout', '300ms', '--give-up-after', '500ms'];

/** The environment with that key, with a state and a config folder that are gone when the test is over. */
export function environment(env: Record<string, string> = {}): Record<string, string> & { RUNCTL_STATE_DIR: string } {
  const folder = temporaryFolder();
  const folders = { RUNCTL_CONFIG_DIR: join(folder, 'config'), RUNCTL_STATE_DIR: join(folder, 'state') };
  return { RUNCTL_API_KEY: key, RUNCTL_PROJECT: projectId, ...folders, ...env };
}

/** Everything that the program wrote: to its streams and to its state folder. */
export function written(
  { stdout, stderr }: { stdout: string; stderr: string },
  { RUNCTL_STATE_DIR: folder }: { RUNCTL_STATE_DIR: string },
): string {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const files = names.map((name) => join(folder, name));
  const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, 'utf8'));
  return [stdout, stderr, ...texts].join('\n');
}

/** The spellings of a secret that are in `text`. */
export const leaked = (text: string) => spellings.filter((spelling) => text.includes(spelling));
