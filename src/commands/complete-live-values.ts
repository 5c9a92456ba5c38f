import { readConfigFile } from '../config/config-file.ts';
import { resolveConfigFile, resolveStateFolder } from '../config/paths.ts';
import { valueIfGiven } from '../config/setting.ts';
import { settingKeys } from '../config/setting-table.ts';
import { resolveWithoutApiKey } from '../config/settings.ts';
import { automationsIn } from '../connection/find-run.ts';
import type { Env } from '../context.ts';
import { builtInScenarios } from '../emulator/built-in-scenarios.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { exitCodes } from '../problems/exit-codes.ts';
import { anyFailure, errorTypes } from '../problems/next-step.ts';
import { knownPaths } from '../render/field-paths.ts';
import { lastStatusOf, nameOf, shownStatuses } from '../runs/run.ts';
import type { Candidate, ValuesOf } from './complete-words.ts';

const mostRuns = 50;

export function liveValues(env: Env): ValuesOf {
  const journal = openJournal({ folder: resolveStateFolder(env), nowMs: Date.now, onTrouble: () => {} });
  const sources: Record<string, () => Iterable<Candidate> | 'files'> = {
    automation: () => automationValues(journal, addressIn(env)),
    run: () => runsIn(journal, addressIn(env)),
    profile: () => profilesIn(env),
    code: () =>
      exitCodes.flatMap(({ code, name, meaning }) => [
        { value: String(code), about: `${name}: ${meaning}` },
        { value: name, about: meaning },
      ]),
    key: () => settingKeys.map((value) => ({ value })),
    status: () => shownStatuses.map((value) => ({ value })),
    scenario: () => builtInScenarios.map(({ name, about }) => ({ value: name, about })),
    field: () => knownPaths.map((value) => ({ value })),
    'rerun-on': () => [anyFailure, ...errorTypes].map((value) => ({ value })),
    'api-key-file': () => 'files',
  };
  return ({ name, choices }) => choices?.map((value) => ({ value })) ?? sources[name]?.() ?? [];
}

function automationValues(journal: Journal, baseUrl: string | undefined): Candidate[] {
  return [...automationsIn({ journal, baseUrl })].slice(0, mostRuns).map((value) => ({ value }));
}

function runsIn(journal: Journal, baseUrl: string | undefined): Candidate[] {
  const names = automationValues(journal, baseUrl).map(({ value }) => value);
  const found: Candidate[] = [
    { value: '@last', about: 'the last run' },
    ...names.map((name) => ({ value: name, about: `the last run of ${name}` })),
  ];
  for (const run of journal.runs({ baseUrl })) {
    const { executionId, target, at } = run;
    if (executionId !== null)
      found.push({ value: executionId, about: `${nameOf(target)} ${lastStatusOf(run)} ${at.slice(0, 16)}` });
    if (found.length > mostRuns) break;
  }
  return found;
}

function profilesIn(env: Env): Candidate[] {
  const { config } = readConfigFile(resolveConfigFile(env));
  return Object.entries(config.profiles ?? {}).map(([value, { baseUrl }]) => ({ value, about: baseUrl }));
}

function addressIn(env: Env): string | undefined {
  return valueIfGiven(resolveWithoutApiKey({}, env).baseUrl);
}
