import { flawOfAutomation, flawOfRun, isIdPrefix } from '../connection/arguments.ts';
import { exitCodes } from '../problems/exit-codes.ts';
import { likely } from '../problems/nearest.ts';
import { type Problem, usageProblem } from '../problems/problem.ts';
import { fieldsOf } from '../render/field-paths.ts';
import { longNameOf, namesOf, shared } from './check-flags.ts';
import type { CommandDefinition } from './define-command.ts';
import { commandWords, configWords, flagWords, impossibleWords, runWords } from './foreign-words.ts';
import { helpTopics, versionOption } from './help-text.ts';
import type { Refused, RefusedCommandLine } from './parse-command-line.ts';

/** The problem of a command line that was refused, with what was probably meant. */
export function problemOfRefusal(
  { message, refused }: RefusedCommandLine,
  program: CommandDefinition,
  whenUnknown: (word: string) => string | undefined,
): Problem {
  const { path, command, word } = refused;
  const help = `see \`runctl ${path ? `${path} ` : ''}--help\``;
  if (!word.startsWith('-')) return usageProblem(message, hintForCommand(refused, program, whenUnknown) ?? help);
  return usageProblem(message, hintForFlag(refused, command ?? program) ?? `${mainFlags(command)}${help}`);
}

/** The flags that only this command has, so that the right one may be among them. */
function mainFlags({ options = {} }: Partial<CommandDefinition> = {}): string {
  const main = Object.values(options).filter(({ heading }) => heading === undefined);
  return main.length > 0 ? `it has ${main.map(longNameOf).join(', ')} and more: ` : '';
}

/** The meaning under which a word is listed. */
const meaningOf = (word: string, meanings: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(meanings).find((meaning) => meanings[meaning]?.split(' ').includes(word));

const didYouMean = (line: string) => `did you mean \`runctl ${line}\`?`;

function hintForCommand(
  { word, rest = [], path }: Refused,
  program: CommandDefinition,
  whenUnknown: (word: string) => string | undefined,
): string | undefined {
  const names = ({ commands = [] }: CommandDefinition) => commands.map(({ name }) => name);
  const group = program.commands?.find(({ name, commands }) => commands && name === path);
  if (group) {
    const near = likely(word, names(group));
    const meant = (path === 'config' && meaningOf(word, configWords)) || (near && `${path} ${near}`);
    return meant && didYouMean(meant);
  }
  if (path === 'help') return ofHelp(word, names(program));
  return whenUnknown(word) ?? impossible(word) ?? ofConfig(word, rest) ?? ofRuns(word, rest, names(program));
}

/** `help 12`, `help exitcodes`, `help logs`. */
function ofHelp(word: string, names: readonly string[]): string | undefined {
  if (exitCodes.some(({ code, name }) => String(code) === word || name === word)) return didYouMean(`explain ${word}`);
  const topic = likely(word.replace(/\W/g, ''), helpTopics) ?? likely(word, names);
  const meant = topic ?? meaningOf(word, commandWords)?.replace(/ -.*/, '');
  return meant ? didYouMean(`help ${meant}`) : (impossible(word) ?? `topics are ${helpTopics.join(', ')}`);
}

const impossible = (word: string) => meaningOf(word, impossibleWords);

/** `auth status`, `profile use staging`, `configure list`: words for the settings, before a verb. */
function ofConfig(word: string, [next = '']: readonly string[]): string | undefined {
  const isConfig = /^config/.test(meaningOf(word, commandWords) ?? '');
  const meant = isConfig && (next === 'list' ? 'config list' : meaningOf(next, configWords));
  return meant ? didYouMean(meant) : undefined;
}

/** `start nightly`, and `run list` or `get runs` with a word for runs. Without another verb, showing runs is assumed. */
function ofRuns(word: string, rest: readonly string[], names: readonly string[]): string | undefined {
  const runs = [word, ...rest.slice(0, 1)].filter((each) => runWords.split(' ').includes(each));
  const [verb = '', ...others] = [word, ...rest].filter((each, at) => at > 1 || !runs.includes(each));
  if (runs.length === 0) {
    const meant = meaningOf(word, commandWords) ?? likely(word, names);
    if (meant) return suggested(meant, rest);
    // Of `rollout status nightly`, the second word is ours.
    const [next = '', ...words] = rest;
    return impossible(next) ?? (names.includes(next) ? suggested(next, words) : undefined);
  }
  const command = names.includes(verb) ? verb : meaningOf(verb, commandWords);
  if (command === 'status' && runs.some((each) => /s$|^all$/.test(each))) return suggested('list', others);
  const other = runs.includes('run') && verb !== '' ? suggested('trigger', [verb]) : suggested('list', []);
  return impossible(verb) ?? suggested(command, others) ?? other;
}

const plainWord = /^[\w@][\w./@-]*$/;

/** With the run or automation that was typed, for the commands that take one. */
function suggested(command: string | undefined, [word = '']: readonly string[]): string | undefined {
  // Of `run/nightly`, the name is meant.
  const next = flawOfRun(word)?.meant?.join(' ') ?? word;
  const isRun = /^(watch|status|result)$/.test(command ?? '') && plainWord.test(next) && !flawOfRun(next);
  const isName =
    /^(trigger|list)$/.test(command ?? '') && plainWord.test(next) && !flawOfAutomation(next) && !isIdPrefix(next);
  if (isRun || isName) return didYouMean(`${command} ${next}`);
  return command && didYouMean(command === 'trigger' ? 'trigger <automation>' : command);
}

function hintForFlag({ path, word, value, after = '', next }: Refused, command: CommandDefinition): string | undefined {
  const options = Object.values(command.version ? { ...shared, versionOption } : (command.options ?? {}));
  const flags = new Set(options.flatMap(namesOf));
  const own = options.find((option) => namesOf(option).includes(word));
  if (/^(false|0|no|off)$/.test(value ?? '')) return `leave out \`${own ? longNameOf(own) : word}\``;
  if (own) {
    const isField = word === '--json' && value?.split(',').every((name) => fieldsOf(path).includes(name));
    return `did you mean \`${isField ? `--field ${value}` : longNameOf(own)}\`?`;
  }
  // Of `-ojson`, `-o` is the flag.
  const typed = /^-[a-z]./i.test(word) ? [word, word.slice(0, 2)] : [word];
  const answers = flagWords.flatMap(([words, ...each]) =>
    typed.some((one) => words.split(' ').includes(one)) ? each : [],
  );
  const run = next !== undefined && plainWord.test(next) ? next : '';
  for (const answer of answers) {
    const [, of = path, say = answer] = /^\[(.*?)\] (.*)$/s.exec(answer) ?? [];
    const [wanted] = of.match(/[.=]/) ?? [];
    if (flags.has(answer)) return `did you mean \`${answer}\`?`;
    const isAnswered = of.split(' ').includes(path) && (!wanted || (after.includes(wanted) && !after.startsWith('-')));
    if (/^--/.test(answer) || !isAnswered) continue;
    return say.replace(/ ?\{run\}/, run && ` ${run}`).replace('{command}', path);
  }
  const bare = word.replace(/^--/, '');
  // `config --list`, as git has it.
  if (command.commands?.some(({ name }) => name === bare)) return didYouMean(`${path} ${bare}`);
  const reason = impossible(bare);
  if (reason) return reason;
  const long = [...flags].flatMap((flag) => (flag.startsWith('--') ? flag.slice(2) : []));
  const similar = word.startsWith('--') ? likely(word.slice(2), long) : undefined;
  if (similar) return `did you mean \`--${similar}\`?`;
  return path === 'emulator' && /^[^-]/.test(next ?? '')
    ? 'put `--` before a command that has flags of its own'
    : undefined;
}
