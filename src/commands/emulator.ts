import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { proxyFor } from '../api/proxy.ts';
import type { Context } from '../context.ts';
import { parseScenario } from '../emulator/parse-scenario.ts';
import type { Scenario } from '../emulator/scenario.ts';
import { builtInScenarios, findBuiltInScenario } from '../emulator/scenarios.ts';
import { startEmulator } from '../emulator/server.ts';
import { usageProblem } from '../problems/problem.ts';
import { onAbort } from '../runs/on-abort.ts';

export interface EmulatorCommandOptions {
  port?: number;
  host?: string;
  /** The name of a built-in one, or a JSON file. */
  scenario?: string;
  speed?: number;
  quiet?: boolean;
}

/**
 * `runctl emulator`: the service on loopback, until it is interrupted. Prints the lines that make the shell use it.
 * With a command, until that has ended: runs it against the emulator, and ends with its exit code.
 */
export async function emulator(
  command: readonly string[],
  options: EmulatorCommandOptions,
  context: Context,
): Promise<number> {
  const { stdout, stderr, signal, random, clock, env } = context;
  // A command that draws on the terminal would be drawn over.
  const isSilent = options.quiet || (command.length > 0 && stderr.isTTY);
  const running = await startEmulator({
    scenario: await findScenario(options.scenario ?? 'happy'),
    port: options.port,
    host: options.host,
    speed: options.speed,
    random,
    nowMs: clock.nowMs,
    onRequest: isSilent ? undefined : (line) => stderr.write(`${line}\n`),
  });
  if (command.length > 0) {
    const { rehearse } = await import('../emulator/run-against.ts');
    return rehearse(command, running, context).finally(running.close);
  }
  stdout.write(`export RUNCTL_BASE_URL=${running.url}\n`);
  stdout.write(`export RUNCTL_API_KEY=${running.apiKey}\n`);
  stdout.write(`export RUNCTL_PROJECT=${running.projectId}\n`);
  if (proxyFor(running.url, env)) stdout.write('export NO_PROXY=127.0.0.1,localhost\n');
  if (!options.quiet) stderr.write('listening; paste these lines into another terminal, Ctrl-C ends it\n');
  if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve));
  await running.close();
  return 0;
}

async function findScenario(name: string): Promise<Scenario> {
  // A file of one's own goes before the built-in one that is called like it.
  const isPath = /[/.\\]/.test(name);
  const builtIn = isPath && existsSync(name) ? undefined : findBuiltInScenario(name);
  if (builtIn) return builtIn;
  if (!isPath) {
    const names = builtInScenarios.map((candidate) => candidate.name).join(', ');
    throw usageProblem(`there is no scenario ${JSON.stringify(name)}`, `one of ${names}, or the path of a JSON file`);
  }
  const text = await readFile(name, 'utf8').catch((error: Error) => {
    throw usageProblem(
      `the scenario ${name} cannot be read: ${error.message}`,
      '`runctl emulator --help` lists the built-in ones',
    );
  });
  return parseScenario(text, name);
}
