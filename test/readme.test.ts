import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Setting, settingTable } from '../src/config/setting-table.ts';
import { exitCodes } from '../src/runs/exit-codes.ts';

const path = join(import.meta.dirname, '../README.md');

/** What stands between `<!-- name -->` and `<!-- /name -->`: written by `UPDATE_README=1 npm run test:unit test/readme.test.ts`. */
const sections: Record<string, () => string> = {
  settings: () =>
    table(
      ['setting', 'flag', 'environment', 'config key', 'default', 'what it is'],
      (settingTable as readonly Setting[]).map(({ name, flag, env, key, default: fallback, about }) => [
        name,
        flag ? `\`${flag}\`` : '',
        env.map((variable) => `\`${variable}\``).join(', '),
        key ? `\`${key}\`` : '',
        fallback ?? 'none',
        about,
      ]),
    ),
  'exit-codes': () =>
    table(
      ['code', 'name', 'meaning', 'was a run started by this command?', 'safe to repeat?'],
      exitCodes.map(({ code, name, meaning, started, repeat }) => [String(code), name, meaning, started, repeat]),
    ),
};

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

test.each(Object.keys(sections))('the table of %s in the README is the one of the source', (name) => {
  const readme = readFileSync(path, 'utf8');
  const between = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
  const wanted = `${sections[name]?.()}\n`;
  if (process.env.UPDATE_README) writeFileSync(path, readme.replace(between, `$1${wanted.replaceAll('$', '$$$$')}$3`));
  else expect(between.exec(readme)?.[2]).toBe(wanted);
});
