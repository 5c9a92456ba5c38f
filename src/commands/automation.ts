import { Problem } from '../run/report.ts';
import { type Automation, isSameAutomation, isUuid } from '../run/run.ts';
import { requireProject } from '../settings/resolve.ts';
import type { Settings } from '../settings/settings.ts';

/** `<name>` in the project in force, or `<projectId>/<name>`. Throws a `Problem` for other words. */
export function parseAutomation(text: string, settings: Settings): Automation {
  const [, first = '', rest] = /^([^/]*)\/(.*)$/s.exec(text) ?? [];
  if (isUuid(first) && rest !== undefined) {
    return { projectId: first.toLowerCase(), name: checkedName(rest, text) };
  }
  if (text === '@' || text === '@last') {
    throw new Problem(`${text} means a run: name an automation`);
  }
  if (text.includes('/')) {
    throw new Problem(
      `"${text}" isn't an automation: use <name> or <projectId>/<name>, where <projectId> is a UUID`,
    );
  }
  const name = checkedName(text, text);
  return { projectId: requireProject(settings), name };
}

/** These would change the path of a request, be read as a flag, or be a slip of a script. */
function checkedName(name: string, text: string): string {
  const flaw = flawOf(name);
  if (flaw) throw new Problem(`"${text}" isn't the name of an automation: ${flaw}`);
  return name;
}

function flawOf(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (name === '.' || name === '..') return 'it would change the path of the request';
  if (/^\p{Dash}/u.test(name)) return 'it begins with a dash';
  if (name !== name.trim()) return 'it has a space at an end';
  if (/\p{Cc}/u.test(name)) return 'it has a control character';
  if (!name.isWellFormed()) return "it isn't valid Unicode";
  return undefined;
}

/** Throws a `Problem` if one is named twice. */
export function parseAutomations(texts: readonly string[], settings: Settings): Automation[] {
  const automations = texts.map((text) => parseAutomation(text, settings));
  const twice = automations.find((one, index) =>
    automations.slice(0, index).some((other) => isSameAutomation(one, other)),
  );
  if (twice) throw new Problem(`${twice.name} is named twice`);
  return automations;
}
