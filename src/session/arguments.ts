import { usageProblem } from '../problems/problem.ts';
import { quote, shellWord } from '../problems/quote.ts';
import { type AutomationTarget, isUuid, type Run } from '../runs/run.ts';

/** A run as the user named it on the command line. */
export type RunArgument =
  | { kind: 'id'; executionId: string }
  | { kind: 'run'; run: Run }
  /** The last run, of any automation or of the one named. */
  | { kind: 'last'; automationName?: string; projectId?: string };

/** `<executionId>`, `<projectId>/<automationName>/<executionId>`, `@last` or `<automation>@last`. Throws a usage problem. */
export function parseRunArgument(text: string): RunArgument {
  if (text === '@last') return { kind: 'last' };
  if (isUuid(text)) return { kind: 'id', executionId: text };
  if (text.endsWith('@last')) return { kind: 'last', ...parseAutomationName(text.slice(0, -'@last'.length)) };
  const cut = text.lastIndexOf('/');
  const executionId = text.slice(cut + 1);
  const { projectId, automationName } = isUuid(executionId) ? splitName(text.slice(0, Math.max(0, cut))) : {};
  if (projectId === undefined || automationName === undefined) {
    throw usageProblem(
      `${quote(text)} does not name a run`,
      'give an execution id, <projectId>/<automationName>/<executionId>, @last or <automation>@last',
    );
  }
  checkAutomationName(automationName, text);
  const target: AutomationTarget = { family: 'automation', projectId, automationName };
  return { kind: 'run', run: { target, executionId } };
}

/** `<automationName>` with the project given beside it, or `<projectId>/<automationName>`. Throws a usage problem. */
export function parseAutomationArgument(text: string, project: () => string): AutomationTarget {
  const { projectId, automationName } = parseAutomationName(text);
  if (projectId === undefined) checkBareName(automationName);
  return { family: 'automation', projectId: projectId ?? project(), automationName };
}

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

// Meant as a project: the characters of a UUID, but too many or too few.
const nearlyProject = /^(?=.*-.*-)[\da-f-]{30,40}\//i;

/** Throws a usage problem for a name that is more likely a mistake, since it would start a run; in full it is accepted. */
function checkBareName(name: string): void {
  const inFull = `an automation of that name is given as <projectId>/${name}`;
  if (name.endsWith('@last') || isUuid(name)) {
    throw usageProblem(
      `${quote(name)} names a run, not an automation`,
      `follow it with \`runctl watch ${shellWord(name)}\`; ${inFull}`,
    );
  }
  if (nearlyProject.test(name)) {
    throw usageProblem(`${quote(name)} begins with what is nearly a project, but no UUID`, `mend the UUID; ${inFull}`);
  }
}

/**
 * Refuses names that cannot be sent in a path: a URL parser drops `.` and `..` even when they are percent-encoded.
 * Throws a usage problem.
 */
export function checkAutomationName(name: string, whole = name): void {
  if (name === '') throw usageProblem(`${quote(whole)} names no automation`);
  if (name === '.' || name === '..') throw usageProblem(`the automation name ${quote(name)} cannot be sent in a path`);
  if (!name.isWellFormed()) throw usageProblem('the automation name holds half a character (a lone surrogate)');
}

/** A UUID in lower case; `what` says in a message what it stands for. Throws a usage problem. */
export function parseUuidArgument(text: string, what: string): string {
  if (!isUuid(text)) throw usageProblem(`${quote(text)} is not ${what}: a UUID is expected`);
  return text.toLowerCase();
}
