import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { checkShell } from '../../src/doctor/check-shell.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { needs } from '../helpers/needs.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A home with these files, all of them executable. */
function homeWith(...files: [path: string, text: string][]): string {
  const home = temporaryFolder();
  for (const [path, text] of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    chmodSync(join(home, path), 0o755);
  }
  return home;
}

function find(name: string, env: Record<string, string>) {
  const findings = [...checkShell({ flags: {}, context: createMemory(env) })];
  return findings.find((finding) => finding.name === name);
}

test("what cron can't find is named, with the line that begins the crontab", (context) => {
  needs(context, 'a machine on which runctl is not installed for all', !existsSync('/usr/bin/runctl'));
  const home = homeWith(['bin/runctl', ''], ['bin/node', '']);
  const found = find('cron_path', { PATH: `/nowhere:${home}/bin` });
  expect(found?.message).toMatch(/^cron can't find runctl/);
  expect(found?.advice).toBe(`begin the crontab with \`PATH=${home}/bin:/usr/bin:/bin\``);
  expect(find('cron_path', { PATH: '' })?.advice).toMatch(/^install runctl/);
});
