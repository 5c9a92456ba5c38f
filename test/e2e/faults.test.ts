// Every fault against every command. Below the name of a command is its exit code, then whether it started a run, and whether
// the far end was asked once, again, or – where nothing could count. Without `CI`, `trigger` meets a third of the faults, another each day; `CI` and
// `npm run test:faults`, in which each is a process, try them all, with every command.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import type { FaultyService } from '../helpers/faulty-server.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { atOnceMs } from '../helpers/real-time.ts';
import { rotating } from '../helpers/rotation.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, type ServerFault, serverFaults, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { trustedAuthority } from '../helpers/trusted-authority.ts';

const matrix = `
fault                        trigger  started  asked   status  asked   result  asked   watch  asked
reset                        12       unknown  again   10      again   10      again   10     again
close                        12       unknown  again   10      again   10      again   10     again
hang before headers          12       unknown  again   10      again   10      again   10     again
hang in body                 12       unknown  again   10      again   10      again   10     again
drip                         12       unknown  again   10      again   10      again   10     again
truncation                   12       unknown  again   10      again   10      again   10     again
early 100                    12       unknown  again   10      again   10      again   10     again
408                          12       unknown  again   10      again   10      again   10     again
429                          9        no       again   9       again   9       again   9      again
429, seconds                 9        no       once    9       once    9       once    124    once
429, date                    9        no       once    9       once    9       once    124    once
429, past date               9        no       again   9       again   9       again   9      again
429, garbage                 9        no       again   9       again   9       again   9      again
429, huge                    9        no       once    9       once    9       once    124    once
500                          12       unknown  again   10      again   10      again   10     again
501                          12       unknown  once    11      once    11      once    10     again
502 HTML                     12       unknown  again   10      again   10      again   10     again
503                          12       unknown  again   10      again   10      again   10     again
503, seconds                 12       unknown  once    10      once    10      once    124    once
504                          12       unknown  again   10      again   10      again   10     again
200 HTML                     12       unknown  again   10      again   10      again   10     again
no body                      12       unknown  again   10      again   10      again   10     again
wrong JSON                   12       unknown  again   10      again   10      again   10     again
wrong types                  12       unknown  again   10      again   10      again   10     again
another run                  0        yes      once    10      again   10      again   10     again
huge body                    12       unknown  once    10      once    10      once    10     again
gzip bomb                    12       unknown  once    10      once    10      once    10     again
broken gzip                  12       unknown  again   10      again   10      again   10     again
TLS alert                    10       no       once    10      once    10      once    10     once
redirect                     11       no       once    11      once    11      once    10     again
redirect to a run            12       unknown  once    11      once    11      once    10     again
see other                    11       no       once    11      once    11      once    10     again
refused                      10       no       –       10      –       10      –       10     –
unresolvable                 10       no       –       10      –       10      –       10     –
TLS stall                    10       no       again   10      again   10      again   10     again
expired certificate          10       no       once    10      once    10      once    10     once
certificate not yet valid    10       no       once    10      once    10      once    10     once
certificate of another host  10       no       once    10      once    10      once    10     once
self-signed certificate      10       no       once    10      once    10      once    10     once
unknown authority            10       no       once    10      once    10      once    10     once
https to an http port        10       no       once    10      once    10      once    10     once
http to an https port        12       unknown  again   10      again   10      again   10     again
proxy hang                   10       no       again   10      again   10      again   10     again
proxy 407                    10       no       once    10      once    10      once    10     once
proxy 403                    10       no       once    10      once    10      once    10     once
proxy 502                    10       no       again   10      again   10      again   10     again
proxy refused                10       no       –       10      –       10      –       10     –
`;

const [headings = [], ...rows] = matrix
  .trim()
  .split('\n')
  .map((line) => line.split(/ {2,}/));
const faults = rows.map(([fault = '']) => fault);

/** What the matrix says of a command under each fault: its own column, and those up to the next command. */
function expectedOf(command: Command): Record<string, string> {
  const from = headings.indexOf(command);
  const next = headings.findIndex((heading, column) => column > from && heading in commands);
  return Object.fromEntries(
    rows.map(([fault, ...cells]) => [fault, cells.slice(from - 1, next > 0 ? next - 1 : undefined).join(' ')]),
  );
}

const run = `${projectId}/nightly/${executionId}`;
const commands = {
  trigger: ['trigger', 'nightly'],
  status: ['status', run],
  result: ['result', run],
  watch: ['watch', run, '--interval', '20ms'],
} as const;
type Command = keyof typeof commands;

const areProcesses = process.env.FAULTS_AS_PROCESSES !== undefined;
const isThorough = areProcesses || Boolean(process.env.CI);
/** The faults whose turn it is. */
const tried = (names: readonly string[]) => (isThorough ? [...names] : rotating(names));
/** A process takes a core for a third of a second. */
const atATime = areProcesses ? 3 : 24;

/** Faults that only a limit ends: one that a busy machine reaches the service in, and then time for a second attempt. */
const endless = /hang|drip|stall|unresolvable/;
/** Faults with which the service asks for a wait, which has to be read before the patience is over. */
const asking = /, (seconds|date|huge)$/;
/** Bodies above the 64 MiB that a result may have. While one is read, nothing else in this process is. */
const large = /^(huge body|gzip bomb)$/;
const patienceMs = (fault: string) => (endless.test(fault) ? 2_500 : asking.test(fault) ? 4_000 : 1_000);
/** Where a limit must not strike, it is what a busy machine takes to load its root certificates. */
const requestTimeoutMs = (fault: string) => (endless.test(fault) ? 1_500 : 4_000);

test('every fault has its row in the matrix', () => {
  expect(faults.toSorted()).toEqual(Object.keys({ ...serverFaults, ...networkFaults }).toSorted());
});

test.each(Object.keys(commands).filter((command) => isThorough || command === 'trigger') as Command[])(
  'under each fault, in time, %s ends with the code of the matrix and says whether a run was started',
  async (command) => {
    const expected = expectedOf(command);
    // The first run loads the program, which must not count against a short limit.
    await cellOf(command, 'expired certificate');
    const cells = await underEach(tried(faults), (fault) => cellOf(command, fault));
    // The program gives an attempt a second of real time at least. A busy machine may take longer, with so many at once.
    for (const [fault, cell] of Object.entries(cells))
      if (cell !== expected[fault]) cells[fault] = await cellOf(command, fault);
    expect(cells).toEqual(Object.fromEntries(Object.keys(cells).map((fault) => [fault, expected[fault]])));
  },
  120_000,
);

const state = (status: string) => answer(200, JSON.stringify({ executionId, status, output: 'done' }));

test('a watch is ended by no fault that passes, whether it strikes the status or the result', async () => {
  const passing = rows.flatMap(([fault = '', ...cells]) =>
    serverFaults[fault] && /^(9|10) again$/.test(cells.slice(-2).join(' ')) && !large.test(fault) ? fault : [],
  );
  const ends = await underEach(tried(passing), async (fault) => {
    let asked = 0;
    const service = await startFaultyService(() => {
      asked += 1;
      // The second poll, and after the third, which reports the end, the first request for the result.
      const isStruck = asked === 2 || asked === 4;
      return isStruck ? (serverFaults[fault] as ServerFault) : state(asked === 1 ? 'RUNNING' : 'COMPLETED');
    });
    const { code, stdout } = await runAt(service, fault, 'watch', '20s');
    return [code, JSON.parse(stdout).output, asked >= 5];
  });
  expect(Object.entries(ends).filter(([, end]) => String(end) !== '0,done,true')).toEqual([]);
  expect(Object.keys(ends).length).toBeGreaterThan(3);
}, 120_000);

test.runIf(isThorough)(
  'a watch that cannot read the result ends with 13 and the status, whatever the fault',
  async () => {
    const ends = await underEach(Object.keys(serverFaults), async (fault) => {
      const serverFault = serverFaults[fault] as ServerFault;
      const service = await startFaultyService((head) =>
        head.includes('/result ') ? serverFault : state('COMPLETED'),
      );
      const documentAt = async (patience: string) =>
        JSON.parse((await runAt(service, fault, 'watch', patience)).stdout);
      const brief = await documentAt('1s');
      // A machine may be so busy that no poll of the status was answered within the second.
      const { status, runctl } = brief.status ? brief : await documentAt('10s');
      return [runctl.exitCode, status];
    });
    expect(Object.entries(ends).filter(([, end]) => String(end) !== '13,COMPLETED')).toEqual([]);
  },
  120_000,
);

/**
 * The result for each fault, by its name. Large ones come one at a time, and those that hang come last, for no clock leaps
 * while a request is under way.
 */
async function underEach<T>(names: string[], act: (fault: string) => Promise<T>): Promise<Record<string, T>> {
  const resultOf = async (fault: string) => [fault, await act(fault)] as const;
  const quick = names.filter((fault) => !endless.test(fault) && !large.test(fault));
  const results = await mapConcurrently(quick, resultOf, atATime);
  for (const fault of names.filter((each) => large.test(each))) results.push(await resultOf(fault));
  const hanging = names.filter((fault) => endless.test(fault));
  return Object.fromEntries([...results, ...(await mapConcurrently(hanging, resultOf, atATime))]);
}

async function cellOf(command: Command, fault: string): Promise<string> {
  const serverFault = serverFaults[fault];
  const service = await (serverFault ? startFaultyService(() => serverFault) : networkFaults[fault]?.());
  if (!service) throw new Error(`no fault ${fault}`);
  const { code, stdout, stderr, tookMs } = await runAt(service, fault, command, `${patienceMs(fault)}ms`);
  if (tookMs > patienceMs(fault) + atOnceMs) return `took ${Math.round(tookMs)} ms`;
  if (code !== 0 && !/^runctl: \S.*\n( {2}\S.*\n( {4,6}\S.*\n)*)?$/m.test(stderr)) return `says nothing: ${stderr}`;
  const count = service.requests();
  const asked = count === undefined ? '–' : count > 1 ? 'again' : count === 1 ? 'once' : 'never';
  const { trigger } = JSON.parse(stdout).runctl;
  return [code, trigger?.started, asked].filter((part) => part !== undefined).join(' ');
}

/** In this process, or as a process of its own. */
async function runAt(service: FaultyService, fault: string, command: Command, patience: string) {
  const folder = temporaryFolder();
  const env = {
    RUNCTL_API_KEY: 'key-of-the-matrix',
    RUNCTL_PROJECT: projectId,
    RUNCTL_CONFIG_DIR: `${folder}/config`,
    RUNCTL_STATE_DIR: `${folder}/state`,
    // It takes a process half as long again to start, so only where a certificate is checked.
    ...(/certificate|authority/.test(fault) && { NODE_EXTRA_CA_CERTS: trustedAuthority().file }),
    ...service.env,
  };
  const requestMs = requestTimeoutMs(fault);
  // A watch waits for as long as the service asks, which only `--timeout` ends, and it gives up on all else before that. Of
  // the two limits one strikes and one is far away: else a machine that stands still would decide between them.
  const isAsked = command === 'watch' && asking.test(fault);
  const limits = ['--request-timeout', `${requestMs}ms`, '--give-up-after', isAsked ? '10m' : patience];
  if (command === 'watch') limits.push('--timeout', isAsked ? '5s' : '10m');
  const argv = [...commands[command], ...limits, '--json'];
  // How long it takes can't be told by the clock of a busy machine.
  if (areProcesses) return { ...(await runProcess(argv, { env })), tookMs: 0 };
  if (endless.test(fault)) return { ...(await runProgram(argv, { env, clock: systemClock })), tookMs: 0 };
  // Only pauses count: however long a busy machine takes for a request, there is time for another one.
  const clock = createLeapingClock(Date.now());
  const startMs = clock.elapsedMs();
  return { ...(await runProgram(argv, { env, clock })), tookMs: clock.elapsedMs() - startMs };
}
