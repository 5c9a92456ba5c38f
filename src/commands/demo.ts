import { type CommandDefinition, defineCommand } from '../cli/define-command.ts';
import { runCli } from '../cli/run-cli.ts';
import { endedBy, type Invocation } from '../context.ts';
import { findBuiltInScenario } from '../emulator/built-in-scenarios.ts';
import { printSentence, themeOf, wrapOptionsOf } from '../render/output.ts';
import { wrap } from '../render/wrap.ts';
import { list } from './list.ts';
import { trigger } from './trigger.ts';
import { watch } from './watch.ts';

/** The part of the program that the demo uses. */
const demonstrated: CommandDefinition = { name: 'runctl', about: '', commands: [trigger, watch, list] };

/** So that each step can be read before the next one begins. */
const readingMs = 1_000;

const interruptedCode = 130;

/** The demo touches neither the settings nor the journal of the user. */
export const demo = defineCommand({
  name: 'demo',
  about: 'take a short tour; no account needed',
  async run(_, __, context) {
    const { withScratchFolder } = await import('../emulator/rehearse.ts');
    return withScratchFolder((folder) => demonstrate(folder, context));
  },
});

/** Returns 0, or the exit code of the first step that did not go as planned. */
async function demonstrate(folder: string, context: Invocation): Promise<number> {
  const { settingsFor } = await import('../emulator/rehearse.ts');
  const { startEmulator } = await import('../emulator/server.ts');
  const { stderr, clock, random } = context;
  const arrived: string[] = [];
  let onRequest = (_line: string) => {};
  const emulator = await startEmulator({
    scenario: findBuiltInScenario('demo') ?? {},
    random,
    nowMs: clock.nowMs,
    onRequest: (line) => onRequest(line),
  });
  // The rest of the environment is left out: the proxy, the profile and the API key of the user.
  const env = {
    ...settingsFor(emulator),
    RUNCTL_CONFIG_DIR: folder,
    RUNCTL_STATE_DIR: folder,
    TERM: context.env.TERM,
  };
  const tour = { ...context, env };
  const theme = themeOf(stderr, context);
  const say = (about: string) => stderr.write(`\n${theme.dim(wrap(`# ${about}`.split(' '), wrapOptionsOf(stderr)))}\n`);
  const prompt = (line: string) => stderr.write(`${theme.dim('$')} ${theme.strong(line)}\n`);
  const type = (command: string, within: Invocation = tour) => {
    prompt(`runctl ${command}`);
    return runCli(command.split(' '), demonstrated, within);
  };

  async function startDespiteFaults(): Promise<number> {
    say('start a run and watch it: the first response gets lost, a poll gets a 502');
    onRequest = (line) => void arrived.push(withoutFault(line));
    const code = await type('trigger nightly-report --watch');
    onRequest = () => {};
    if (context.signal.aborted) return code;
    say('what the service saw: two triggers with the same idempotency key, and one run');
    for (const line of withoutRepeats(arrived)) stderr.write(`  ${line}\n`);
    return code;
  }

  async function failWithItsCode(): Promise<number> {
    say('a run that fails');
    const code = await type('trigger import-orders --watch');
    if (context.signal.aborted) return code;
    prompt('echo $?');
    stderr.write(`${code}\n`);
    return code === 1 ? 0 : code;
  }

  async function leaveAndComeBack(): Promise<number> {
    say('Ctrl-C stops watching; the run continues');
    const press = new AbortController();
    // At the first poll, whose answer comes too late: the run cannot finish before, however slow the machine is.
    onRequest = (line) => {
      if (!line.startsWith('status') || press.signal.aborted) return;
      stderr.write(`${stderr.isTTY ? '\r' : ''}^C\n`);
      press.abort('SIGINT');
    };
    const code = await type('trigger sync-customers --watch', endedBy(tour, press.signal));
    onRequest = () => {};
    if (context.signal.aborted || code !== interruptedCode) return code;
    say('so you can watch it again, from here or after a reboot');
    return type('watch sync-customers');
  }

  async function lookBack(): Promise<number> {
    say('the runs started on this machine');
    return type('list');
  }

  try {
    const place = `This tour uses the built-in emulator at ${emulator.url}.`;
    printSentence(`${place} It takes 20 seconds, needs no account and keeps nothing.`, context);
    for (const step of [startDespiteFaults, failWithItsCode, leaveAndComeBack, lookBack]) {
      const code = await step();
      if (context.signal.aborted || code !== 0) return code;
      if (step !== lookBack) await clock.sleep(readingMs, context.signal);
    }
    stderr.write('\n');
    printSentence('To use your own account, start with `runctl config`.', context);
    printSentence('To test your own scripts like this, see `runctl emulator --help`.', context);
    return 0;
  } finally {
    await emulator.close();
  }
}

/** The name of the emulator's fault says less than what the client saw of it. */
const withoutFault = (line: string) => line.replace('no answer', 'response lost').replace(/ \(\w+\)$/, '');

/** Equal lines become one, with their number. */
function withoutRepeats(lines: readonly string[]): string[] {
  return [...new Set(lines)].map((line) => {
    const times = lines.filter((each) => each === line).length;
    return times > 1 ? `${line} (${times} times)` : line;
  });
}
