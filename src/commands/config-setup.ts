import { isDeepStrictEqual } from 'node:util';
import { connect, connectWith } from '../connection/connect.ts';
import { type Connection, probeService } from '../connection/connection.ts';
import type { CommandContext } from '../context.ts';
import { printNextStep, printSentence } from '../output/print-message.ts';
import { themeOf } from '../output/theme.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { exitNameOfFault, type Fault, isProjectUnknown, reasonOf } from '../run/fault.ts';
import { interruptedProblem, Problem, usageProblem } from '../run/problem.ts';
import { quote, shellWord } from '../run/quote.ts';
import { maskApiKey } from '../settings/api-key.ts';
import { type ConfigFile, changeConfigFile, type Profile } from '../settings/config-file.ts';
import {
  checkProfileName,
  openProfile,
  profileFlag,
  storedProfile,
  withProfile,
} from '../settings/profile.ts';
import { askHidden, askLine } from '../settings/prompts.ts';
import { resolveWithoutApiKey } from '../settings/resolve.ts';
import { optionalValue, parseText, settingTable } from '../settings/table.ts';
import { schemeFor } from '../settings/values.ts';

const questions = [
  { setting: 'baseUrl', prompt: 'base URL of the service', isNeeded: true },
  { setting: 'apiKey', prompt: 'API key (it is not shown)', isNeeded: true },
  { setting: 'project', prompt: 'project ID (UUID, optional; - to clear)', isNeeded: false },
] as const;
const [baseUrlQuestion, apiKeyQuestion, projectQuestion] = questions;

type SetupQuestion = (typeof questions)[number];

/**
 * `runctl config` alone: asks for the settings that every command needs, stores them and returns
 * their keys.
 */
export async function askSettings(
  options: { profile?: string },
  context: CommandContext,
): Promise<SetupQuestion['setting'][]> {
  const { stderr } = context;
  if (!context.stdin().isTTY || !stderr.isTTY) {
    throw usageProblem(
      'config needs one of: get, set, unset, list, path',
      'in the foreground of a terminal, and without CI set, `runctl config` asks for everything it needs',
    );
  }
  const { path, config, profile } = openProfile(options.profile, context);
  checkProfileName(profile);
  const stored = storedProfile(profile.name, config) ?? {};

  printSentence(
    `The answers are stored in ${path}, which only you can read. Enter keeps the value in brackets, and Ctrl-C cancels without saving.`,
    context,
  );
  const answers = await askUntilAccepted(stored, context);
  answers.project = await askQuestion(projectQuestion, stored.project, context);
  const save = (now: ConfigFile) => {
    // An API key that was typed for one base URL must not be stored with another one.
    if (isDeepStrictEqual(storedProfile(profile.name, now) ?? {}, stored))
      return withProfile(now, profile, answers);
    throw usageProblem(
      `another command has changed profile ${quote(profile.name)}, so nothing was saved`,
      `\`runctl config${profileFlag(profile.name)}\``,
    );
  };
  await changeConfigFile(path, save, context);
  stderr.write('\n');
  printSentence(`Saved in profile "${profile.name}".`, context);
  return questions.map(({ setting }) => setting);
}

type SetupAnswers = Partial<Record<SetupQuestion['setting'], string>>;

/**
 * Asks for the base URL and the API key until the service takes them, or the same answer is given
 * twice.
 */
async function askUntilAccepted(stored: Profile, context: CommandContext): Promise<SetupAnswers> {
  const answers: SetupAnswers = {};
  for (const question of [baseUrlQuestion, apiKeyQuestion]) {
    if (question.setting === 'apiKey' && stored.apiKeyCommand) return answers;
    answers[question.setting] = await askQuestion(question, stored[question.setting], context);
  }
  for (;;) {
    const fault = await findFault(answers, context);
    if (!fault) return answers;
    const question = fault.kind === 'unauthorized' ? apiKeyQuestion : baseUrlQuestion;
    const { label } = settingTable[question.setting];
    printSentence(
      `That doesn't work: ${reasonOf(fault)}. Type another ${label}, or press Enter to keep it.`,
      context,
    );
    const answer = await askQuestion(question, answers[question.setting], context);
    if (answer === answers[question.setting]) return answers;
    answers[question.setting] = answer;
  }
}

/** Why the service cannot be used with these answers; undefined if it accepts them. */
async function findFault(
  answers: SetupAnswers,
  context: CommandContext,
): Promise<Fault | undefined> {
  const source = 'as typed';
  const typed = {
    apiKey: { value: answers.apiKey ?? '', source },
    baseUrl: { value: answers.baseUrl ?? '', source },
  };
  const settings = { ...resolveWithoutApiKey({}, {}), ...typed };
  return settingsFaultOf(await connectWith(settings, {}, context));
}

/**
 * Asks one question until the answer is valid. Returns what to store, or undefined for a setting
 * that stays unset.
 */
async function askQuestion(
  question: SetupQuestion,
  stored: string | undefined,
  context: CommandContext,
) {
  const isSecret = question.setting === 'apiKey';
  const ask = isSecret ? askHidden : askLine;
  for (;;) {
    const text = (await ask(promptOf(question, stored, context), context)).trim();
    const answer = parseAnswer(text, question, stored);
    if ('flaw' in answer) {
      printSentence(`The ${settingTable[question.setting].label} ${answer.flaw}`, context);
      continue;
    }
    if (isSecret) context.secrets.protect(text);
    return answer.value;
  }
}

function promptOf(
  { setting, prompt }: SetupQuestion,
  stored: string | undefined,
  context: CommandContext,
): string {
  const theme = themeOf(context.stderr, context);
  const shown = stored && setting === 'apiKey' ? maskApiKey(stored) : stored;
  const inBrackets = shown ? theme.dim(` [${shown}]`) : '';
  return `${theme.strong(prompt)}${inBrackets}: `;
}

/**
 * The value to store, or what is wrong with the answer, as the end of a sentence. An empty answer
 * keeps what is stored.
 */
function parseAnswer(
  text: string,
  { setting, isNeeded }: SetupQuestion,
  stored: string | undefined,
): { value: string | undefined } | { flaw: string } {
  const isRequired = isNeeded && !stored;
  if (text === '') return isRequired ? { flaw: 'is required.' } : { value: stored };
  if (text === '-' && !isNeeded) return { value: undefined };
  const parsed = parseText(setting, setting === 'baseUrl' ? withScheme(text) : text);
  if ('value' in parsed) return parsed;
  const { flaw, hint = settingTable[setting].hint } = parsed;
  return { flaw: `${flaw}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}.` };
}

/** Adds the scheme, as `api.example.com` and `localhost:8080` are often typed without it. */
const withScheme = (text: string) =>
  /^[\w.-]+(:\d+)?(\/|$)/.test(text) ? schemeFor(text) + text : text;

/** Why the service can't be used with these settings. Throws the interrupted problem. */
async function settingsFaultOf(connection: Connection): Promise<Fault | undefined> {
  const { context, settings } = connection;
  const { signal } = context;
  const answer = await probeService(connection);
  if (signal.aborted) throw interruptedProblem(exitNameOfSignal(signal));
  if (answer.kind !== 'fault') return undefined;
  const { fault } = answer;
  if (isProjectUnknown(fault)) {
    // Without a project, the request was about one that can't exist.
    const hasProject = optionalValue(settings.project) !== undefined;
    return hasProject ? fault : undefined;
  }
  // The run that was asked for can't exist.
  return fault.kind === 'not_found' ? undefined : fault;
}

/**
 * Sends a request with the current settings, which differ from the stored ones if a variable or a
 * flag overrides them. Says what to type next, or throws the problem. Returns the exit code.
 */
export async function trySettings(
  options: { profile?: string },
  context: CommandContext,
): Promise<number> {
  const theme = themeOf(context.stderr, context);
  const connection = await connect(options, context);
  const { settings, baseUrl } = connection;
  const project = optionalValue(settings.project);
  const fault = await settingsFaultOf(connection);
  if (fault) {
    const profile = options.profile === undefined ? '' : ` --profile ${shellWord(options.profile)}`;
    throw new Problem({
      name: exitNameOfFault(fault),
      message: `the settings are saved but don't work: ${reasonOf(fault)}`,
      // `runctl config` alone doesn't get the flags that are added to other commands.
      hint:
        fault.hint ??
        `\`runctl config list\` shows them; to change them: \`runctl config${profile}\``,
      fault,
    });
  }
  printSentence(
    `${theme.symbols.ok} ${new URL(baseUrl).host} responds and seems to accept the API key.`,
    context,
  );
  if (project)
    printSentence("The project isn't verified: only a trigger can show that it exists.", context);
  const automation = project ? '<automation>' : '<projectId>/<automation>';
  printNextStep(`\`runctl trigger ${automation} --watch\``, context);
  return 0;
}
