import type { NamedAutomation } from '../journal/entry-filter.ts';
import { fieldsOf } from '../output/field-paths.ts';
import {
  flawInPath,
  flawOfFilter,
  flawOfName,
  isPlainName,
  type NameFlaw,
} from '../run/automation-name.ts';
import { usageProblem } from '../run/problem.ts';
import { quote, shellWord } from '../run/quote.ts';
import { isUuid, type Target } from '../run/run.ts';
import { shownStatuses } from '../run/statuses.ts';

export type RunArgument =
  | { kind: 'id'; executionId: string }
  /** A complete run. Without a project, it means the one in the settings. */
  | { kind: 'run'; executionId: string; projectId?: string; automationName: string }
  | { kind: 'last' }
  /** An automation's name, which means its last run, or the beginning of an id. */
  | { kind: 'word'; text: string; projectId?: string; automationName: string };

/**
 * `<executionId>` or a prefix of it, an automation, `@last`, or
 * `[<projectId>/]<name>/<executionId>`. Throws a usage problem.
 */
export function parseRunArgument(text: string): RunArgument {
  if (text === '') throw usageProblem("an empty argument isn't a run");
  if (text === '@last') return { kind: 'last' };
  if (isUuid(text)) return { kind: 'id', executionId: text };
  const cut = text.lastIndexOf('/');
  const executionId = text.slice(cut + 1);
  const { projectId, automationName } = parseAutomationName(
    isUuid(executionId) ? text.slice(0, cut) : text,
  );
  if (!isUuid(executionId)) return { kind: 'word', text, projectId, automationName };
  // This is a project and an id, without the name between them.
  if (projectId === undefined && isUuid(automationName)) {
    throw usageProblem(
      `${quote(text)} isn't a run`,
      'in full it is <projectId>/<name>/<executionId>',
    );
  }
  return { kind: 'run', executionId, projectId, automationName };
}

export const isFromJournal = ({ kind }: RunArgument): boolean => kind === 'last' || kind === 'word';

/**
 * Parses `<projectId>/<automationName>`, or `<automationName>` in the project of the settings.
 * Throws a usage problem.
 */
export function parseAutomationArgument(text: string, project: () => string): Target {
  const { projectId, automationName } = parseAutomationName(text);
  return { projectId: projectId ?? project(), automationName };
}

/**
 * The automations named on the command line: in the default project, or in every project if there
 * is none. Throws a usage problem.
 */
export const parseAutomationNames = (
  texts: readonly string[],
  projectId: string | undefined,
): NamedAutomation[] => texts.map((text) => ({ projectId, ...parseAutomationName(text) }));

/** `<automationName>` or `<projectId>/<automationName>`. Throws a usage problem. */
function parseAutomationName(text: string) {
  const name = splitName(text);
  checkAutomationName(name.automationName, text);
  return name;
}

/** The part before the first `/` is a project only if it is a UUID. */
function splitName(text: string): { projectId?: string; automationName: string } {
  const cut = text.indexOf('/');
  const hasProject = cut > 0 && isUuid(text.slice(0, cut));
  return hasProject
    ? { projectId: text.slice(0, cut).toLowerCase(), automationName: text.slice(cut + 1) }
    : { automationName: text };
}

/** The other arguments of a command line, which may show that one of them is a mistake. */
export interface Arguments {
  others: readonly string[];
  /** Whether it is a command of runctl and not the name of an automation in the journal. */
  isCommand(word: string): boolean;
}

const alone: Arguments = { others: [], isCommand: () => false };

/**
 * The flaw of an argument that could be the name of an automation but is probably a mistake.
 * Undefined if there is none.
 */
export function flawOfAutomation(
  text: string,
  { others, isCommand }: Arguments = alone,
): NameFlaw | undefined {
  const { projectId, automationName } = splitName(text);
  if (projectId !== undefined) return undefined;
  const [name] = others;
  if (isUuid(text) && name !== undefined && isPlainName(name))
    return {
      flaw: 'is a UUID, not a name',
      hint: `to name a project, write ${shellWord(`${text}/${name}`)}`,
      isNoName: true,
    };
  const isRun = text === '@last' || isUuid(text.slice(text.lastIndexOf('/') + 1));
  if (isRun)
    return {
      flaw: 'names a run, not an automation',
      hint: `to watch it: \`runctl watch ${shellWord(text)}\``,
      isNoName: true,
    };
  return isCommand(automationName) ? commandFlaw : flawOfName(automationName);
}

const commandFlaw: NameFlaw = {
  flaw: 'is a command of runctl',
  hint: 'give one command at a time',
};

/** The same for an argument that names a run. */
export function flawOfRun(text: string, { isCommand }: Arguments = alone): NameFlaw | undefined {
  const cut = text.lastIndexOf('/');
  const id = text.slice(cut + 1);
  const name = cut > 0 && isUuid(id) ? text.slice(0, cut) : text;
  if (isUuid(name) || splitName(name).projectId !== undefined) return undefined;
  // `gh run view --json status,url` takes fields like this.
  if (/^\w+(?:,\w+)+$/.test(text))
    return {
      flaw: 'contains a comma',
      hint: `separate names with spaces, or type \`--field ${text}\` for fields`,
    };
  return isCommand(name) ? commandFlaw : flawOfName(name);
}

/** The same for an argument that selects what is listed. */
export function flawOfSelection(text: string): NameFlaw | undefined {
  if (splitName(text).projectId !== undefined) return undefined;
  const status = text.toUpperCase();
  if (shownStatuses.includes(status))
    return { flaw: 'is a status', hint: `use \`--status ${status}\``, isNoName: true };
  if (text.includes(',') && text.split(',').every((name) => fieldsOf('list').includes(name)))
    return {
      flaw: 'names fields, not automations',
      hint: `use \`--field ${text}\``,
      isNoName: true,
    };
  return flawOfFilter(text);
}

/** Throws a usage problem for a name that can't be sent. */
function checkAutomationName(name: string, whole: string): void {
  if (name === '')
    throw usageProblem(`the automation's name in ${quote(whole)} is empty`, 'is a variable unset?');
  const flaw = flawInPath(name);
  if (flaw)
    throw usageProblem(
      `the automation name ${quote(name)} ${flaw}; nothing was sent`,
      'give a name such as nightly',
    );
}
