import type { Argument, CommandUnknownOpts, Option } from 'commander';
import { findCommand, findOption, isFlag } from '../cli/command.ts';
import { helpOption } from '../cli/help-text.ts';
import { automationsIn } from '../connection/known-automations.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { knownPaths } from '../output/field-paths.ts';
import { statusOf } from '../run/entry.ts';
import { exitCodes } from '../run/exit-codes.ts';
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

/**
 * The argument or option whose value is typed. `name` has no dashes or brackets, and `choices` are
 * its only values.
 */
interface ValuePlace {
  name: string;
  choices?: readonly string[];
}

/** Returns the values to offer, or `files` if the shell is to complete file names. */
type ValuesOf = (place: ValuePlace) => Iterable<Candidate> | 'files';

export function candidatesFor(
  words: readonly string[],
  program: CommandUnknownOpts,
  valuesOf: ValuesOf,
): Candidate[] | 'files' {
  const current = words.at(-1) ?? '';
  const { command, place, wantsValue, isPastOptions } = findPlace(words.slice(0, -1), program);
  const options = [...command.options, ...(command === program ? [] : program.options), helpOption];
  const isOption = current.startsWith('-') && !wantsValue && !isPastOptions;
  const [, flag, typed = ''] = (isOption && /^(--[^=]+)=(.*)$/s.exec(current)) || [];
  if (flag) {
    const ofFlag = placeOfOption(findOption(options, flag));
    return startingWith(typed, ofFlag ? valuesOf(ofFlag) : [], `${flag}=`);
  }
  if (isOption) return startingWith(current, flagsOf(options, current));
  if (!wantsValue && command.commands.length > 0) {
    const inner = command.createHelp().visibleCommands(command);
    return startingWith(
      current,
      inner.map((each) => ({ value: each.name(), about: each.description() })),
    );
  }
  return startingWith(current, place ? valuesOf(place) : []);
}

function findPlace(words: readonly string[], program: CommandUnknownOpts) {
  let command = program;
  let given = 0;
  let ofOption: ValuePlace | undefined;
  let isPastOptions = false;
  for (const word of words) {
    const inner = findCommand(command, word);
    if (ofOption) ofOption = undefined;
    else if (isPastOptions) given++;
    else if (word === '--') isPastOptions = true;
    else if (isFlag(word))
      ofOption = placeOfOption(findOption([...command.options, ...program.options], word));
    else if (inner) command = inner;
    else given++;
  }
  const args = command.registeredArguments;
  const last = args.at(-1);
  const argument = args[given] ?? (last?.variadic ? last : undefined);
  const place = ofOption ?? (argument && placeOfArgument(argument));
  return { command, place, wantsValue: ofOption !== undefined, isPastOptions };
}

function placeOfOption(option: Option | undefined): ValuePlace | undefined {
  return option?.required ? { name: option.name(), choices: option.argChoices } : undefined;
}

const placeOfArgument = (argument: Argument): ValuePlace => ({
  name: argument.name(),
  choices: argument.argChoices,
});

/** The long flags. A short flag is offered only if exactly that flag has been typed. */
function flagsOf(options: readonly Option[], typed: string): Candidate[] {
  return options.flatMap(({ short, long, description }) =>
    [short, long]
      .filter((flag) => flag !== undefined)
      .filter((flag) => flag.startsWith('--') || flag === typed)
      .map((flag) => ({ value: flag, about: description })),
  );
}

function startingWith(
  typed: string,
  values: Iterable<Candidate> | 'files',
  before = '',
): Candidate[] | 'files' {
  if (values === 'files') return 'files';
  const fitting = [...values].filter(({ value }) => value.startsWith(typed));
  return fitting.map(({ value, about }) => ({ value: before + value, about }));
}

const maxRuns = 50;

export function liveValues(env: Env): ValuesOf {
  const journal = openJournal({
    folder: resolveStateFolder(env),
    nowMs: Date.now,
    onTrouble: () => {},
  });
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
  return [...automationsIn({ journal, baseUrl })].slice(0, maxRuns).map((value) => ({ value }));
}

function runsIn(journal: Journal, baseUrl: string | undefined): Candidate[] {
  const names = automationValues(journal, baseUrl).map(({ value }) => value);
  const candidates: Candidate[] = [
    { value: '@last', about: 'the last run' },
    ...names.map((name) => ({ value: name, about: `the last run of ${name}` })),
  ];
  for (const entry of journal.entries({ baseUrl })) {
    const about = `${entry.target.automationName} ${statusOf(entry)} ${localTime(entry.at).slice(0, 16)}`;
    if (entry.kind !== 'unresolved') candidates.push({ value: entry.executionId, about });
    if (candidates.length > maxRuns) break;
  }
  return candidates;
}

function profilesIn(env: Env): Candidate[] {
  const { config } = readConfigFile(resolveConfigFile(env));
  return Object.entries(config.profiles ?? {}).map(([value, { baseUrl }]) => ({
    value,
    about: baseUrl,
  }));
}

function addressIn(env: Env): string | undefined {
  return valueIfGiven(resolveWithoutApiKey({}, env).baseUrl);
}
