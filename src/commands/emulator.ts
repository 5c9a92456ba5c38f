import { existsSync } from 'node:fs';
import { argument, defineCommand, flag, option } from '../cli/define-command.ts';
import { positive, whole } from '../cli/values.ts';
import { builtInScenarios, findBuiltInScenario } from '../emulator/built-in-scenarios.ts';
import type { Scenario } from '../emulator/scenario.ts';
import { exitCodeOf } from '../problems/exit-codes.ts';
import { usageProblem } from '../problems/problem.ts';
import { shellWord } from '../problems/quote.ts';
import { onAbort } from '../runs/clock.ts';
import { sanitizeLine } from '../sanitize.ts';

const defaultScenario = 'happy';

const options = {
  port: option('--port <n>', 'port to listen on (default: any free one)', whole(0, 65_535)),
  scenario: option(
    '--scenario <name|file>',
    `built-in scenario, or a JSON file: see \`help scenarios\` (default: ${defaultScenario})`,
  ),
  speed: option(
    '--speed <factor>',
    'how much faster than real time its clock runs (clients still wait in real time)',
    positive,
  ),
  report: option(
    '--report <file>',
    'at the end, write what the client did (triggers, runs started twice, results never read); - for a summary on stderr',
  ),
  quiet: flag('-q, --quiet', "don't print a line for every request"),
};

export const emulator = defineCommand({
  name: 'emulator',
  about: 'run a local copy of the service to test scripts against',
  arguments: {
    command: argument('[command...]', 'after --: a command to run against it; runctl exits with its exit code'),
  },
  options,
  examples: [
    ['runctl emulator', 'print `export` lines that point a shell at it'],
    ['runctl emulator --scenario bad-day --speed 60', 'everything goes wrong, and an hour passes in a minute'],
    [
      'runctl emulator --scenario bad-day --speed 1200 -- ./nightly.sh',
      'run a script against it and exit with its exit code',
    ],
  ],
  /** Runs until it is interrupted; with a command, until that has ended, and returns its exit code. */
  async run({ command }, options, context) {
    const { stdout, stderr, signal, random, clock } = context;
    // The lines would be mixed with what the command draws on the terminal.
    const isSilent = options.quiet || (command.length > 0 && stderr.isTTY);
    const { startEmulator } = await import('../emulator/server.ts');
    const { openReport } = await import('../emulator/write-report.ts');
    const scenario = await findScenario(options.scenario ?? defaultScenario);
    const report = options.report === undefined ? undefined : await openReport(options.report, context);
    const running = await startEmulator({
      scenario,
      port: options.port,
      speed: options.speed,
      random,
      nowMs: clock.nowMs,
      report: report?.facts,
      onRequest: isSilent ? undefined : (line) => stderr.write(`${sanitizeLine(line)}\n`),
    });
    const { rehearse, settingsFor } = await import('../emulator/rehearse.ts');
    let exitCode: number | undefined;
    if (command.length > 0) exitCode = await rehearse(command, running, context).finally(running.close);
    else {
      for (const [name, value] of Object.entries(settingsFor(running))) stdout.write(`export ${name}=${value}\n`);
      if (!options.quiet)
        stderr.write(
          `Listening. Paste these lines into another terminal; ${firstTrigger(scenario)}. Ctrl-C stops the emulator.\n`,
        );
      if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve));
      await running.close();
    }
    const isReported = (await report?.write(running, exitCode ?? null)) ?? true;
    return exitCode || (isReported ? 0 : exitCodeOf('output_error'));
  },
});

function firstTrigger({ automations = { '*': {} } }: Scenario): string {
  const [name = 'nightly'] = Object.keys(automations).filter((each) => each !== '*');
  const line = `runctl trigger ${shellWord(sanitizeLine(name))} --watch`;
  return automations['*'] ? `any name works: ${line}` : `for example: ${line}`;
}

async function findScenario(name: string): Promise<Scenario> {
  // A file of the user takes precedence over the built-in scenario of the same name.
  const isPath = /[/.\\]/.test(name);
  const builtIn = isPath && existsSync(name) ? undefined : findBuiltInScenario(name);
  if (builtIn) return builtIn;
  if (!isPath) {
    const names = builtInScenarios.map((candidate) => candidate.name).join(', ');
    throw usageProblem(
      `there is no scenario ${JSON.stringify(name)}`,
      `choose one of ${names}, or give the path to a JSON file`,
    );
  }
  const { readScenario } = await import('../emulator/read-scenario.ts');
  return readScenario(name);
}
