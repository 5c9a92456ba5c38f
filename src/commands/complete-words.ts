import type { CommandUnknownOpts, Option } from 'commander';
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
import { configSettingNames, optionalValue } from '../settings/table.ts';
import type { Env } from '../system/env.ts';
import { localTime } from '../system/time-text.ts';

export interface Candidate {
  value: string;
  description?: string;
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
type CandidateValues = (place: ValuePlace) => Iterable<Candidate> | 'files';

/** The candidates for the last of these words, which is typed up to the cursor. */
export function candidatesFor(
  words: readonly string[],
  program: CommandUnknownOpts,
  valuesOf: CandidateValues,
): Candidate[] | 'files' {
  const typed = words.at(-1) ?? '';
  const { command, option, argument, isPastOptions } = readPlace(words.slice(0, -1), program);
  if (option) return startingWith(typed, valuesOf(option));
  if (typed.startsWith('-') && !isPastOptions) {
    const programOptions = command === program ? [] : program.options;
    return optionCandidates(typed, [...command.options, ...programOptions, helpOption], valuesOf);
  }
  if (command.commands.length > 0) return startingWith(typed, subcommandsOf(command));
  return startingWith(typed, argument ? valuesOf(argument) : []);
}

/** What the word after these words can be. */
interface Place {
  command: CommandUnknownOpts;
  /** The option whose value comes next. */
  option: ValuePlace | undefined;
  /** The argument that comes next, unless it is the value of an option. */
  argument: ValuePlace | undefined;
  /** After a `--`, words that begin with a dash are arguments. */
  isPastOptions: boolean;
}

function readPlace(words: readonly string[], program: CommandUnknownOpts): Place {
  let command = program;
  let operands = 0;
  let option: ValuePlace | undefined;
  let isPastOptions = false;
  for (const word of words) {
    const subcommand = findCommand(command, word);
    if (option) {
      option = undefined;
    } else if (isPastOptions) {
      operands += 1;
    } else if (word === '--') {
      isPastOptions = true;
    } else if (isFlag(word)) {
      option = placeOfOption(findOption([...command.options, ...program.options], word));
    } else if (subcommand) {
      command = subcommand;
    } else {
      operands += 1;
    }
  }
  return { command, option, argument: argumentAt(operands, command), isPastOptions };
}

/** The argument at this index. A variadic argument takes all operands that follow. */
function argumentAt(index: number, command: CommandUnknownOpts): ValuePlace | undefined {
  const all = command.registeredArguments;
  const last = all.at(-1);
  const argument = all[index] ?? (last?.variadic ? last : undefined);
  return argument && { name: argument.name(), choices: argument.argChoices };
}

function placeOfOption(option: Option | undefined): ValuePlace | undefined {
  return option?.required ? { name: option.name(), choices: option.argChoices } : undefined;
}

function optionCandidates(
  typed: string,
  options: readonly Option[],
  valuesOf: CandidateValues,
): Candidate[] | 'files' {
  const [, flag, value = ''] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (flag === undefined) return startingWith(typed, flagsOf(options, typed));
  const place = placeOfOption(findOption(options, flag));
  return startingWith(value, place ? valuesOf(place) : [], `${flag}=`);
}

function subcommandsOf(command: CommandUnknownOpts): Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map((each) => ({ value: each.name(), description: each.description() }));
}

/** The long flags. A short flag is offered only if exactly that flag has been typed. */
function flagsOf(options: readonly Option[], typed: string): Candidate[] {
  return options.flatMap(({ short, long, description }) =>
    [short, long]
      .filter((flag) => flag !== undefined)
      .filter((flag) => flag.startsWith('--') || flag === typed)
      .map((flag) => ({ value: flag, description })),
  );
}

function startingWith(
  typed: string,
  values: Iterable<Candidate> | 'files',
  before = '',
): Candidate[] | 'files' {
  if (values === 'files') return 'files';
  const fitting = [...values].filter(({ value }) => value.startsWith(typed));
  return fitting.map(({ value, description }) => ({ value: before + value, description }));
}

const maxRuns = 50;

/**
 * The values that this machine knows, by the name of the argument or option. Values of any other
 * name are offered only if they are its `choices`.
 */
export function liveValues(env: Env): CandidateValues {
  const journal = openJournal({
    folder: resolveStateFolder(env),
    nowMs: Date.now,
    onFailure: () => {},
  });
  const sources: Record<string, () => Iterable<Candidate> | 'files'> = {
    automation: () => automationValues(journal, baseUrlIn(env)),
    run: () => runsIn(journal, baseUrlIn(env)),
    profile: () => profilesIn(env),
    code: () =>
      exitCodes.flatMap(({ code, outcome, meaning }) => [
        { value: String(code), description: `${outcome}: ${meaning}` },
        { value: outcome, description: meaning },
      ]),
    key: () => configSettingNames.map((value) => ({ value })),
    status: () => shownStatuses.map((value) => ({ value })),
    field: () => knownPaths.map((value) => ({ value })),
    'api-key-file': () => 'files',
  };
  return ({ name, choices }) => {
    if (choices) return choices.map((value) => ({ value }));
    return sources[name]?.() ?? [];
  };
}

function automationValues(journal: Journal, baseUrl: string | undefined): Candidate[] {
  return [...automationsIn({ journal, baseUrl })].slice(0, maxRuns).map((value) => ({ value }));
}

function runsIn(journal: Journal, baseUrl: string | undefined): Candidate[] {
  const names = automationValues(journal, baseUrl).map(({ value }) => value);
  const candidates: Candidate[] = [
    { value: '@last', description: 'the last run' },
    ...names.map((name) => ({ value: name, description: `the last run of ${name}` })),
  ];
  for (const entry of journal.entries({ baseUrl })) {
    const description = `${entry.target.automationName} ${statusOf(entry)} ${localTime(entry.at).slice(0, 16)}`;
    if (entry.kind !== 'unresolved') candidates.push({ value: entry.executionId, description });
    if (candidates.length > maxRuns) break;
  }
  return candidates;
}

function profilesIn(env: Env): Candidate[] {
  const { config } = readConfigFile(resolveConfigFile(env));
  return Object.entries(config.profiles ?? {}).map(([value, { baseUrl }]) => ({
    value,
    description: baseUrl,
  }));
}

function baseUrlIn(env: Env): string | undefined {
  return optionalValue(resolveWithoutApiKey({}, env).baseUrl);
}
