import { acceptApiKey, mask } from '../config/api-key.ts';
import { readConfigFile } from '../config/config-file.ts';
import { checkProfileName, chooseProfile, storedProfile } from '../config/profile.ts';
import { askHidden, askLine } from '../config/prompts.ts';
import { parseSetting, settingTable, valueIfGiven } from '../config/setting-table.ts';
import { requireConfigFile, storeInProfile } from '../config/store-profile.ts';
import type { Context } from '../context.ts';
import { exitNameOf } from '../problems/fault-facts.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { printNextStep, printSentence, themeOf } from '../render/output.ts';
import type { Run } from '../runs/run.ts';
import { connect } from '../session/connect.ts';

const questions = [
  { key: 'baseUrl', asks: 'base address of the service', isNeeded: true },
  { key: 'apiKey', asks: 'API key (it is not shown)', isNeeded: true },
  { key: 'project', asks: 'project, a UUID (may be left out; - for none)', isNeeded: false },
] as const;

type Question = (typeof questions)[number];

/** `runctl config` alone: asks for what every command needs, and stores it. Returns the keys of what was asked. */
export async function askSettings(options: { profile?: string }, context: Context): Promise<Question['key'][]> {
  const { stdin, stderr, env } = context;
  if (!stdin.isTTY || !stderr.isTTY) {
    throw usageProblem(
      'runctl config needs one of: get, set, unset, list, path',
      'on a terminal, `runctl config` alone asks for all that is needed',
    );
  }
  const path = requireConfigFile(context);
  const file = readConfigFile(path);
  const profile = chooseProfile(options.profile, env, file);
  checkProfileName(profile);
  const stored = storedProfile(profile.name, file.config) ?? {};

  printSentence(
    `Three questions; the answers go to ${path}, which only you can read. Enter keeps what stands in brackets, Ctrl-C leaves everything as it is.`,
    context,
  );
  const answers: Partial<Record<Question['key'], string>> = {};
  for (const question of questions) {
    if (question.key === 'apiKey' && stored.apiKeyCommand) continue;
    answers[question.key] = await ask(question, stored[question.key], context);
  }
  await storeInProfile(path, profile, answers);
  stderr.write('\n');
  printSentence(`stored for profile "${profile.name}"`, context);
  return questions.map(({ key }) => key);
}

async function ask({ key, asks, isNeeded }: Question, stored: string | undefined, context: Context) {
  const theme = themeOf(context.stderr, context);
  const { isSecret } = settingTable[key];
  const shown = stored && (isSecret ? mask(stored) : stored);
  const question = `${theme.strong(asks)}${shown ? theme.dim(` [${shown}]`) : ''}: `;
  for (;;) {
    const text = (await (isSecret ? askHidden : askLine)(question, context)).trim();
    if (text === '' && (stored || !isNeeded)) return stored;
    if (text === '-' && !isNeeded) return undefined;
    if (text === '') continue;
    const { value, problem } = isSecret ? acceptApiKey(text, 'as typed', context) : parseSetting(key, text, 'as typed');
    if (!problem) return value;
    printNextStep([problem.message, problem.facts.hint].filter(Boolean).join('; '), context);
  }
}

/** Asks for a run that cannot exist: that it is not found says that the service is there and takes the key. */
export async function checkSettings(options: { profile?: string }, context: Context): Promise<number> {
  const { stderr } = context;
  const theme = themeOf(stderr, context);
  const { service, settings, baseUrl } = await connect(options, context);
  const project = valueIfGiven(settings.project);
  const projectId = project ?? crypto.randomUUID();
  const nobodysRun: Run = {
    target: { family: 'automation', projectId, automationName: 'runctl-config-check' },
    executionId: crypto.randomUUID(),
  };
  const answer = await service.status(nobodysRun, context.signal);
  if (answer.kind === 'fault' && answer.fault.kind !== 'not_found') {
    const { fault } = answer;
    throw new Problem({
      name: exitNameOf(fault),
      message: `${fault.message}: the settings are stored, but they do not work yet`,
      hint: fault.hint ?? 'mend them with `runctl config`, see them with `runctl config list`',
      httpStatus: fault.httpStatus,
    });
  }
  stderr.write(`${theme.ok(theme.symbols.ok)} ${new URL(baseUrl).host} answers and takes this key\n`);
  const unchecked = project ? 'that the project exists, and holds' : 'that there is';
  printSentence(`Not checked, for no request can ask it: ${unchecked} the automation you want.`, context);
  const automation = project ? '<automation>' : '<projectId>/<automation>';
  printNextStep(`start a run: \`runctl trigger ${automation} --watch\``, context);
  return 0;
}
