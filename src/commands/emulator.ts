import { Command, Option } from 'commander';
import { define } from '../cli/command.ts';
import { positive, whole } from '../cli/values.ts';
import type { CommandContext } from '../context.ts';
import { scenarioNames, scenarios } from '../emulator/scenarios.ts';
import type { Automations } from '../emulator/service.ts';
import { printSentence } from '../output/print-message.ts';
import { usageProblem } from '../run/problem.ts';
import { quote, shellWord } from '../run/quote.ts';
import { isUuid } from '../run/run.ts';
import { onAbort } from '../system/clock.ts';
import { sanitizeLine } from '../system/sanitize.ts';

const defaultScenario = 'happy';

const command = new Command('emulator')
  .description('run a local copy of the service to try scripts')
  .argument('[command...]', 'command to run against it, after -- (runctl exits with its exit code)')
  .addOption(
    new Option('--scenario <name>', `scenario to play (default: ${defaultScenario})`).choices(
      scenarioNames,
    ),
  )
  .option('--port <n>', 'port to listen on (default: any free one)', whole(0, 65_535))
  .option(
    '--speed <factor>',
    'how much faster than real time its clock runs (clients still wait in real time)',
    positive,
  )
  .option('-q, --quiet', "don't print a line for every request");

const apiKey = 'emulator-key';
/** The project that the emulator suggests. It accepts any other UUID, too. */
const projectId = '00000000-0000-4000-8000-000000000001';

export const emulator = define(command, {
  terms: {
    title: 'Scenarios',
    rows: scenarioNames.map((name) => [name, scenarios[name].description]),
  },
  examples: [
    ['runctl emulator -- runctl trigger nightly --watch', 'try runctl without an account'],
    ['runctl emulator', 'print export lines that point a shell at it'],
    [
      'runctl emulator --scenario bad-day --speed 1200 -- ./nightly.sh',
      'test a script on a bad day',
    ],
  ],
  /**
   * Runs until it is interrupted. With a command, runs until that command has ended, and returns
   * its exit code.
   */
  async run([command], { scenario = defaultScenario, port, speed, quiet, project }, context) {
    if (project !== undefined && !isUuid(project)) throw notProjectId(project);
    const { stderr, clock } = context;
    const automations: Automations = scenarios[scenario].automations;
    const { createService } = await import('../emulator/service.ts');
    const { startEmulator } = await import('../emulator/server.ts');
    const hasCommand = command.length > 0;
    // The emulator's own lines would be mixed with what the command draws on the terminal.
    const isSilent = quiet || (hasCommand && stderr.isTTY);
    const server = await startEmulator({
      service: createService(automations, [apiKey]),
      port,
      speed,
      nowMs: clock.nowMs,
      onRequest: isSilent ? undefined : (line) => stderr.write(`${sanitizeLine(line)}\n`),
    });
    const settings = {
      RUNCTL_BASE_URL: server.url,
      RUNCTL_API_KEY: apiKey,
      RUNCTL_PROJECT: projectId,
    };
    const run = hasCommand
      ? (await import('./emulator-child.ts')).runChild(command, settings, context)
      : waitForInterrupt(settings, quiet ? undefined : listeningSentence(automations), context);
    const exitCode = await run.finally(server.close);
    // A terminal shows `^C` where the cursor is, so the next text begins on a new line.
    if (!hasCommand && stderr.isTTY) stderr.write('\n');
    stderr.write(`${server.summary()}\n`);
    return exitCode;
  },
});

const notProjectId = (project: string) =>
  usageProblem(
    `${quote(project)} isn't a project ID (a UUID)`,
    `for the port, type \`--port ${shellWord(project)}\``,
  );

/** Prints the settings as a shell reads them, and returns an exit code after a signal. */
async function waitForInterrupt(
  settings: Record<string, string>,
  sentence: string | undefined,
  context: CommandContext,
): Promise<number> {
  const { stdout, signal } = context;
  for (const [variable, value] of Object.entries(settings)) {
    stdout.write(`export ${variable}=${value}\n`);
  }
  if (sentence !== undefined) printSentence(sentence, context);
  if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve));
  return 0;
}

function listeningSentence(automations: Automations): string {
  const [first] = Object.keys(automations);
  const [which, name] = first === '*' ? ['any name works', 'nightly'] : ['for example', first];
  return `Listening until Ctrl-C. Paste these lines into another terminal, then start a run (${which}): \`runctl trigger ${name} --watch\``;
}
