import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import schema from '../docs/document.schema.json' with { type: 'json' };
import { exitTable, signalExitCodes } from '../src/core/exit-codes.ts';
import { type ScenarioName, scenarios } from '../src/emulator/scenarios.ts';
import { type SettingRow, settingTable } from '../src/settings/table.ts';
import * as service from './given.ts';
import { openTerminal, run, runctl, serve, temporaryFolder } from './processes.ts';

const root = join(import.meta.dirname, '..');
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...docs.map((name) => `docs/${name}`)];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

/** The blocks of a page. Behind the language is the scenario that the block is run against. */
const blocksOf = (page: string) =>
  [...textOf(page).matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', scenario, text = '']) => ({ page, language, scenario, text }),
  );
const blocks = pages.flatMap(blocksOf);

/** The environment of a machine with runctl, settings for an emulator, and an empty home. */
async function machine(scenario = '') {
  const { automations } = scenarios[(scenario || 'happy') as ScenarioName];
  const { env } = await serve({ '*': {}, ...automations }, 10_000); // 20 s take 2 ms
  const [bin, HOME] = [temporaryFolder(), temporaryFolder()];
  symlinkSync(runctl[1] as string, join(bin, 'runctl'));
  for (const command of ['mail', 'curl', 'sleep']) {
    writeFileSync(join(bin, command), '#!/bin/sh\n', { mode: 0o755 });
  }
  const ofSlurm = { SLURM_JOB_ID: '7', SLURMD_NODENAME: 'n1' };
  return { ...env, ...ofSlurm, PATH: `${bin}:${env.PATH}`, HOME };
}

describe.concurrent('what is typed on the pages', () => {
  const sessions = pages.flatMap((page) => {
    const ofPage = blocksOf(page).filter(({ language }) => language === 'console');
    const scenario = ofPage[0]?.scenario;
    return ofPage.length > 0 ? [{ page, scenario, text: ofPage.map(({ text }) => text) }] : [];
  });

  test.for(sessions)('$page shows what is printed', async ({ scenario, text }, { expect }) => {
    const page = text.join('');
    const typed = [...page.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line);
    const env = { ...(await machine(scenario)), TYPED: typed.join('\n') };
    // `$?` is the exit code of the line before.
    const shell =
      'cd; while IFS= read -r line <&3; do ' +
      'printf "$ %s\\n" "$line"; (exit $code); eval "$line"; code=$?; done 3<<< "$TYPED"; ' +
      // A busy pseudo-terminal drops what comes right before its end.
      '/bin/sleep 0.5';
    const terminal = openTerminal(['bash', '-c', shell], env);
    await terminal.exit;
    expect(shapeOf(await terminal.text())).toEqual(shapeOf(page));
  });

  // npm would build and install.
  const scripts = blocks.filter(({ language, text }) => language === 'sh' && !/npm/.test(text));

  test.for(scripts)('$page: $text', async ({ scenario, text }, { expect }) => {
    const script = text.replace(/--speed \d+/, '--speed 100000');
    const ended = await run(['sh', '-ec', `cd; ${script}\nwait`], await machine(scenario));
    expect(ended).toMatchObject({ exitCode: 0 });
    if (text.includes('first-day')) expect(ended.stdout).toMatch(/^(.{36})\n\1\n$/);
  });

  test('the crontab is silent if all is well', async ({ expect }) => {
    const { text = '' } = blocks.find(({ language }) => language === 'crontab') ?? {};
    const lines = [...text.matchAll(/^(?:@\w+|(?:\S+ ){5}) *(runctl .*)$/gm)];
    const script = lines.map(([, line = '']) => line.replaceAll('\\%', '%')).join('\n');
    const ended = await run(['sh', '-ec', script], await machine());
    expect(lines).toHaveLength(4);
    expect(ended).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });
});

/** The lines of a screen, without empty ones. Ids and times don't matter. */
const shapeOf = (screen: string) =>
  screen
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replace(/\b[\da-f]{8}\b/g, 'SHORT ID')
    .replace(/\b\d\d:\d\d\b/g, 'TIME')
    .split('\n')
    .filter(Boolean);

test('runctl accepts the triggers in files of other programs', async () => {
  const others = blocks.filter(({ language }) => /^(ini|yaml|python)$/.test(language));
  const lines = others.flatMap(({ text }) => text.match(/\btrigger,? .*(watch|key).*/g) ?? []);
  expect(lines).toHaveLength(6);
  const { runctl } = await service.given();
  for (const line of lines) {
    const words = line.replace(/\$?\{\{.*?\}\}|\$\(?\w+\)?/g, 'x').replace(/[[\]"',]/g, ' ');
    expect(await runctl(`${words} --dry-run`)).toMatchObject({ exitCode: 0 });
  }
});

test('the tables of the reference are those of the program', () => {
  const code = (text: string) => (text ? `\`${text}\`` : '');
  const row = (...cells: string[]) => `| ${cells.join(' | ')} |\n`.replaceAll('  ', ' ');
  const settings = Object.entries<SettingRow>(settingTable).map(([key, setting]) => {
    const { flag = '', env, default: byDefault = '', description } = setting;
    return row(code(key), code(flag), env.map(code).join(', '), byDefault, description);
  });
  const exits = exitTable.map(({ code: number, name, meaning, repeat }) =>
    row(`${number}`, code(name), meaning, repeat === 'yes' ? 'yes' : 'own key'),
  );
  const page = textOf('docs/reference.md');
  expect(page).toContain(settings.join(''));
  expect(page).toContain(exits.join(''));
});

const exitCodes = [...exitTable.map(({ code }) => code), ...Object.values(signalExitCodes)];
const sorted = (codes: readonly number[]) => [...new Set(codes)].sort((one, two) => one - two);

test('the README says what each exit code means', () => {
  const rows = [...textOf('README.md').matchAll(/^\| (\d[\d, ]*) \|/gm)];
  expect(sorted(rows.flatMap(([, codes = '']) => codes.split(', ').map(Number)))).toEqual(
    sorted(exitCodes),
  );
});

test('the schema fits documents of every kind', async () => {
  const { outcome, exitCode } = schema.properties.runctl.properties;
  expect(outcome.enum).toEqual(exitTable.map(({ name }) => name));
  expect(exitCode.enum).toEqual(sorted(exitCodes));

  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  const example = blocks.find(({ language }) => language === 'json')?.text ?? '';
  const documents = [{ line: 'the example', document: JSON.parse(example) }];
  const { accepted, connectionLost, alreadyActive, failed, failedResult, fullPath } = service;
  const { runctl } = await service.given({
    trigger: [accepted, connectionLost, alreadyActive],
    status: [failed],
    result: [failedResult],
  });
  const lines = `trigger nightly --watch; trigger export; recover; trigger import; list;
    list --offline; watch --all; status ${fullPath}; result ${fullPath}; trigger export --dry-run;
    doctor; config list; config get project; agent trigger ${service.projectId}; trigger; nosuch`;
  for (const line of lines.split(/;\s+/)) {
    const printed = await runctl(`${line} --json`);
    documents.push(...printed.documents.map((document) => ({ line, document })));
  }
  expect(documents.length).toBeGreaterThan(20);
  const wrong = documents.flatMap(({ line, document }) =>
    validate(document) ? [] : [{ line, document, errors: validate.errors }],
  );
  expect(wrong).toEqual([]);
});

test.each(pages)('what %s points to exists', (page) => {
  const anchorsOf = (file: string) =>
    [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replace(/[^\w -]/g, ''),
    );
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  const broken = links.filter(([, file = '', anchor]) => {
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor.replaceAll('-', ' '));
  });
  expect(broken.map(([link]) => link)).toEqual([]);
  const sources = [...textOf(page).matchAll(/`([\w.-]+\/[\w.\-/]+\.ts)`/g)];
  const places = sources.map(([, path = '']) => path.replace(/^(?!test\/)/, 'src/'));
  expect(places.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the README has 900 words at most, and all pages 6,500 but for the changelog', () => {
  const wordsOf = (page: string) => textOf(page).trim().split(/\s+/).length;
  const counts = pages.filter((page) => page !== 'docs/CHANGELOG.md').map(wordsOf);
  expect(wordsOf('README.md')).toBeLessThanOrEqual(900);
  expect(counts.reduce((sum, words) => sum + words)).toBeLessThanOrEqual(6500);
});
