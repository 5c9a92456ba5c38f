import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../src/system/clock.ts';
import { createFastClock } from './fast-clock.ts';
import { entry } from './run-process.ts';
import { runProgram } from './run-program.ts';

/** Lets the program poll more often than every 3 s at first, where a script leaves that to it. */
const polling = (flags: string) =>
  `case "$*" in trigger*--watch* | watch*) command=$1; shift; set -- "$command" ${flags} "$@" ;; esac`;

const install = (folder: string, script: string) => writeFileSync(join(folder, 'runctl'), script, { mode: 0o755 });

/** Installs the built program as `runctl` in a folder. */
export function installProcess(folder: string): () => void {
  // It gives up after a third of what it allows a refusal.
  const impatient = polling('--interval 100ms --give-up-after 10s');
  install(folder, `#!/bin/sh\n${impatient}\nexec '${entry}' "$@"\n`);
  return () => {};
}

/**
 * Installs a `runctl` in a folder that has the process of the tests run the program: no Node is started, and no pause takes
 * time, or a fifth of it where a script has an emulator of its own. Where `CI` is set it is the built program. Returns how
 * to close it.
 */
export async function installProgram(folder: string, own: { baseUrl: string; clock: Clock }): Promise<() => void> {
  if (process.env.CI) return installProcess(folder);
  const server = createServer(async (socket) => {
    const controller = new AbortController();
    socket.on('error', () => {}).once('close', () => controller.abort('SIGTERM'));
    const command = await readCommand(socket).catch(() => undefined);
    if (!command) return;
    const { argv, env, input } = command;
    const clock = env.RUNCTL_BASE_URL === own.baseUrl ? own.clock : createFastClock();
    const ended = runProgram(argv, { env, input, clock, signal: controller.signal });
    const { code, stdout, stderr } = await ended.catch(({ stack }) => ({ code: 70, stdout: '', stderr: stack }));
    socket.end([code, stdout, stderr, ''].join('\0'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  install(folder, clientOf((server.address() as AddressInfo).port));
  return () => void server.close();
}

/** A hook, and the command of an emulator, needs a process that is in the folder of the script. */
const clientOf = (port: number) => `#!/bin/bash
${polling('--interval 500ms')}
case "$*" in emulator* | *--on-*) exec '${entry}' "$@" ;; esac
case " $* " in *' - '*) IFS= read -r -d '' input ;; esac
for name in $(compgen -e); do variables+=("$name=\${!name}"); done
exec 3<> /dev/tcp/127.0.0.1/${port}
printf '%s\\0' "$#" "\${#variables[@]}" "$input" "$@" "\${variables[@]}" >&3
for word in code stdout stderr; do IFS= read -r -d '' $word <&3; done
printf %s "$stderr" >&2
printf %s "$stdout"
exit "$code"
`;

/** What such a script sends: two numbers, the input, so many arguments and so many variables, each followed by a NUL. */
async function readCommand(socket: Socket) {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    const [count, variables, input = '', ...words] = text.split('\0');
    // Also while the numbers have not come.
    if (!(words.length > Number(count) + Number(variables))) continue;
    const env = words.slice(Number(count), -1).map((variable) => variable.split(/=(.*)/s));
    return { argv: words.slice(0, Number(count)), env: Object.fromEntries(env), input };
  }
  throw new Error(`a command was cut off: ${text}`);
}
