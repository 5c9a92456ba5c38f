import type { NamedAutomation } from '../journal/run-filter.ts';
import { usageProblem } from '../problems/problem.ts';
import { quote, shellWord } from '../problems/quote.ts';
import { type AutomationTarget, isUuid } from '../runs/run.ts';

export type RunArgument =
  | { kind: 'id'; executionId: string }
  /** A complete run. Without a project, it means the one in the settings. */
  | { kind: 'run'; executionId: string; projectId?: string; automationName: string }
  | { kind: 'last' }
  /** An automation's name, which means its last run, or the beginning of an id. */
  | { kind: 'word'; text: string; projectId?: string; automationName: string };

/** `<executionId>` or a prefix of it, an automation, `@last`, or `[<projectId>/]<name>/<executionId>`. Throws a usage problem. */
export function parseRunArgument(text: string): RunArgument {
  if (text === '') throw usageProblem("an empty argument isn't a run");
  if (text === '@last') return { kind: 'last' };
  if (isUuid(text)) return { kind: 'id', executionId: text };
  const cut = text.lastIndexOf('/');
  const executionId = text.slice(cut + 1);
  const { projectId, automationName } = parseAutomationName(isUuid(executionId) ? text.slice(0, cut) : text);
  if (!isUuid(executionId)) return { kind: 'word', text, projectId, automationName };
  // A project and an id without the name between them.
  if (projectId === undefined && isUuid(automationName)) {
    throw usageProblem(`${quote(text)} isn't a run`, 'in full it is <projectId>/<automationName>/<executionId>');
  }
  return { kind: 'run', executionId, projectId, automationName };
}

export const isFromJournal = ({ kind }: RunArgument): boolean => kind === 'last' || kind === 'word';

/** `<automationName>` with the project given beside it, or `<projectId>/<automationName>`. Throws a usage problem. */
export function parseAutomationArgument(text: string, project: () => string): AutomationTarget {
  const { projectId, automationName } = parseAutomationName(text);
  if (projectId === undefined) checkBareName(automationName);
  return { family: 'automation', projectId: projectId ?? project(), automationName };
}

/** The automations named on the command line: in the default project, or in every project if there is none. Throws a usage problem. */
export const parseAutomationNames = (texts: readonly string[], projectId: string | undefined): NamedAutomation[] =>
  texts.map((text) => ({ projectId, ...parseAutomationName(text) }));

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

// A mistyped project: the characters of a UUID, but too many or too few.
const nearlyProject = /^(?=.*-.*-)[\da-f-]{30,40}\//i;

/** Throws a usage problem for a name that is probably a mistake, because it would start a run. The full name is accepted. */
function checkBareName(name: string): void {
  const inFull = `an automation of that name is given as <projectId>/${name}`;
  if (name === '@last' || isUuid(name)) {
    throw usageProblem(
      `${quote(name)} names a run, not an automation`,
      `watch it with \`runctl watch ${shellWord(name)}\`; ${inFull}`,
    );
  }
  if (nearlyProject.test(name)) {
    throw usageProblem(
      `${quote(name)} begins with something like a project ID that isn't a UUID`,
      `fix the UUID; ${inFull}`,
    );
  }
}

/** Throws a usage problem for names that can't be sent: a URL parser drops `.` and `..` even when percent-encoded. */
function checkAutomationName(name: string, whole = name): void {
  if (name === '') throw usageProblem(`${quote(whole)} isn't an automation`);
  if (name === '.' || name === '..') throw usageProblem(`the automation name ${quote(name)} can't be sent in a path`);
  if (!name.isWellFormed()) throw usageProblem('the automation name contains half a character (a lone surrogate)');
}

/** A UUID in lower case. `what` names it in the message. Throws a usage problem. */
export function parseUuidArgument(text: string, what: string): string {
  if (!isUuid(text)) throw usageProblem(`${quote(text)} is not ${what}: a UUID is expected`);
  return text.toLowerCase();
}
