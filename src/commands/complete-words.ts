import { hoistFlags, namesOf } from '../cli/check-flags.ts';
import type { ArgumentDefinition, CommandDefinition, OptionDefinition } from '../cli/define-command.ts';
import { helpOption, versionOption } from '../cli/help-text.ts';
import { automationsIn } from '../connection/find-run.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { knownPaths } from '../output/field-paths.ts';
import { statusOf } from '../run/entry.ts';
import { exitCodes } from '../run/exit-codes.ts';
import { nameOf } from '../run/run.ts';
import { shownStatuses } from '../run/statuses.ts';
import { readConfigFile } from '../settings/config-file.ts';
import { resolveConfigFile, resolveStateFolder } from '../settings/folders.ts';
import { resolveWithoutApiKey } from '../settings/resolve.ts';
import { settingKeys, valueIfGiven } from '../settings/table.ts';
import type { Env } from '../system/env.ts';
import { localTime } from '../system/time-text.ts';

export interface Candidate {
  value: string;
  about?: string;
}

/** Where a value is typed: the name of its argument or option, without dashes and brackets, and its only values. */
interface Place {
  name: string;
  choices?: readonly string[];
}

/** The values that fit a place; `files` leaves it to the shell to complete file names. */
type ValuesOf = (place: Place) => Iterable<Candidate> | 'files';

export function candidatesFor(
  words: readonly string[],
  program: CommandDefinition,
  valuesOf: ValuesOf,
): Candidate[] | 'files' {
  const current = words.at(-1) ?? '';
  const { command, place, wantsValue, isPastOptions } = findPlace(hoistFlags(words.slice(0, -1), program), program);
  const isOption = current.startsWith('-') && !wantsValue && !isPastOptions;
  const [, flag, typed = ''] = (isOption && /^(--[^=]+)=(.*)$/s.exec(current)) || [];
  if (flag) {
    const ofFlag = placeOfOption(findOption(command, flag));
    return startingWith(typed, ofFlag ? valuesOf(ofFlag) : [], `${flag}=`);
  }
  if (isOption) return startingWith(current, flagsOf(command, current));
  if (!wantsValue && command.commands) {
    const names = command.commands.map(({ name, about }) => ({ value: name, about }));
    return startingWith(current, names);
  }
  return startingWith(current, place ? valuesOf(place) : []);
}

function findPlace(words: readonly string[], program: CommandDefinition) {
  let command = program;
  let given = 0;
  let ofOption: Place | undefined;
  let isPastOptions = false;
  for (const word of words) {
    const inner = command.commands?.find(({ name, alias }) => name === word || alias === word);
    if (ofOption) ofOption = undefined;
    else if (isPastOptions) given++;
    else if (word === '--') isPastOptions = true;
    else if (word.startsWith('-') && word !== '-') ofOption = placeOfOption(findOption(command, word));
    else if (inner) command = inner;
    else given++;
  }
  const args = Object.values(command.arguments ?? {});
  const last = args.at(-1);
  const argument = args[given] ?? (last?.form.includes('...') ? last : undefined);
  const place = ofOption ?? (argument && placeOfArgument(argument));
  return { command, place, wantsValue: ofOption !== undefined, isPastOptions };
}

const optionsOf = ({ options = {}, version }: CommandDefinition) => [
  ...Object.values(options),
  ...(version ? [versionOption] : []),
  helpOption,
];

const findOption = (command: CommandDefinition, flag: string) =>
  optionsOf(command).find((option) => namesOf(option).includes(flag));

function placeOfOption(option: OptionDefinition | undefined): Place | undefined {
  if (!option?.flags.includes('<')) return undefined;
  return { name: namesOf(option).at(-1)?.replace(/^--/, '') ?? '', choices: option.choices?.map(String) };
}

const placeOfArgument = ({ form, choices }: ArgumentDefinition): Place => ({
  name: form.replace(/\W/g, ''),
  choices: choices?.map(String),
});

/** The long flags, and a short flag only if exactly that is typed. */
function flagsOf(command: CommandDefinition, typed: string): Candidate[] {
  return optionsOf(command).flatMap((option) =>
    namesOf(option)
      .filter((flag) => flag.startsWith('--') || (typed.length === 2 && flag === typed))
      .map((flag) => ({ value: flag, about: option.about })),
  );
}

function startingWith(typed: string, values: Iterable<Candidate> | 'files', before = ''): Candidate[] | 'files' {
  if (values === 'files') return 'files';
  const fitting = [...values].filter(({ value }) => value.startsWith(typed));
  return fitting.map(({ value, about }) => ({ value: before + value, about }));
}

const mostRuns = 50;

export function liveValues(env: Env): ValuesOf {
  const journal = openJournal({ folder: resolveStateFolder(env), nowMs: Date.now, onTrouble: () => {} });
  const sources: Record<string, () => Iterable<Candidate> | 'files'> = {
    automation: () => automationValues(journal, addressIn(env)),
    run: () => runsIn(journal, addressIn(env)),
    profile: () => profilesIn(env),
    code: () =>
      exitCodes.flatMap(({ code, outcome, meaning }) => [
        { value: String(code), about: `${outcome}: ${meaning}` },
        { value: outcome, about: meaning },
      ]),
    key: () => settingKeys.map((value) => ({ value })),
    status: () => shownStatuses.map((value) => ({ value })),
    field: () => knownPaths.map((value) => ({ value })),
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
  for (const entry of journal.entries({ baseUrl })) {
    const about = `${nameOf(entry.target)} ${statusOf(entry)} ${localTime(entry.at).slice(0, 16)}`;
    if (entry.kind !== 'unresolved') found.push({ value: entry.executionId, about });
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
