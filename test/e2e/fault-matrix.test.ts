// Every fault against every command of the built program. A cell holds the exit code, `problem.started`, and how often
// the far end was asked: once, again, or – where nothing could count.
import { describe, expect, test } from 'vitest';
import {
  answer,
  type BadPlace,
  badWays,
  inModeration,
  type Misdeed,
  misdeeds,
  startBadService,
} from '../helpers/faults.ts';
import { runProgram, temporaryFolder } from '../helpers/program.ts';
import { atOnceMs } from '../helpers/real-time.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

const matrix = `
fault                        trigger           status        result        watch
reset                        12 unknown again  10 no again   10 no again   10 no again
close                        12 unknown again  10 no again   10 no again   10 no again
hang before headers          12 unknown again  10 no again   10 no again   10 no again
hang in body                 12 unknown again  10 no again   10 no again   10 no again
drip                         12 unknown again  10 no again   10 no again   10 no again
truncation                   12 unknown again  10 no again   10 no again   10 no again
early 100                    12 unknown again  10 no again   10 no again   10 no again
408                          12 unknown again  10 no again   10 no again   10 no again
429                          9 no again        9 no again    9 no again    10 no again
429, seconds                 9 no once         9 no once     9 no once     10 no once
429, date                    9 no once         9 no once     9 no once     10 no once
429, past date               9 no again        9 no again    9 no again    10 no again
429, garbage                 9 no again        9 no again    9 no again    10 no again
429, huge                    9 no once         9 no once     9 no once     10 no once
500                          12 unknown again  10 no again   10 no again   10 no again
501                          12 unknown once   11 no once    11 no once    10 no again
502 HTML                     12 unknown again  10 no again   10 no again   10 no again
503                          12 unknown again  10 no again   10 no again   10 no again
503, seconds                 12 unknown once   10 no once    10 no once    10 no once
504                          12 unknown again  10 no again   10 no again   10 no again
200 HTML                     12 unknown again  11 no again   11 no again   10 no again
no body                      12 unknown again  11 no again   11 no again   10 no again
wrong JSON                   12 unknown again  11 no again   11 no again   10 no again
wrong types                  12 unknown again  11 no again   11 no again   10 no again
another run                  0 - once          11 no again   11 no again   10 no again
huge body                    12 unknown once   11 no once    11 no once    11 no once
gzip bomb                    12 unknown once   11 no once    11 no once    11 no once
broken gzip                  12 unknown again  11 no again   11 no again   10 no again
TLS alert                    10 no once        10 no once    10 no once    10 no once
redirect                     11 no once        11 no once    11 no once    11 no once
see other                    12 unknown once   11 no once    11 no once    11 no once
refused                      10 no –           10 no –       10 no –       10 no –
unresolvable                 10 no –           10 no –       10 no –       10 no –
TLS stall                    10 no again       10 no again   10 no again   10 no again
expired certificate          10 no once        10 no once    10 no once    10 no once
certificate not yet valid    10 no once        10 no once    10 no once    10 no once
certificate of another host  10 no once        10 no once    10 no once    10 no once
self-signed certificate      10 no once        10 no once    10 no once    10 no once
unknown authority            10 no once        10 no once    10 no once    10 no once
https to an http port        10 no once        10 no once    10 no once    10 no once
http to an https port        12 unknown again  10 no again   10 no again   10 no again
proxy hang                   10 no again       10 no again   10 no again   10 no again
proxy 407                    10 no once        10 no once    10 no once    10 no once
proxy 403                    10 no once        10 no once    10 no once    10 no once
proxy 502                    10 no again       10 no again   10 no again   10 no again
proxy refused                10 no –           10 no –       10 no –       10 no –
`;

/** The second is for a machine so busy that the first was over before a second attempt. */
const patiencesMs = [1_000, 5_000];
/** What never ends is cut soon; everything else gets the time that a busy machine takes to load its root certificates. */
const requestTimeoutMs = (fault: string) => (/hang|drip|stall|unresolvable/.test(fault) ? 300 : 4_000);
const run = `${projectId}/nightly/${executionId}`;
const commands: Record<string, string[]> = {
  trigger: ['trigger', 'nightly'],
  status: ['status', run],
  result: ['result', run, '--max-output', '1MiB'],
  watch: ['watch', run, '--max-output', '1MiB', '--interval', '20ms'],
};
const [headings = [], ...rows] = matrix
  .trim()
  .split('\n')
  .map((line) => line.split(/ {2,}/));

test('every fault has its row', () => {
  expect(rows.map(([fault]) => fault).sort()).toEqual(Object.keys({ ...misdeeds, ...badWays }).sort());
});

describe('under every fault, in time,', () => {
  test.each(headings.slice(1))(
    '%s ends with the code of the matrix and says whether a run was started',
    async (command) => {
      const column = headings.indexOf(command);
      const cells = await inModeration(rows, async (row) => {
        const [fault = ''] = row;
        let cell = '';
        for (const patienceMs of patiencesMs) if (cell !== row[column]) cell = await cellOf(command, fault, patienceMs);
        return [fault, cell];
      });
      const expected = Object.fromEntries(rows.map((row) => [row[0], row[column]]));
      expect(Object.fromEntries(cells)).toEqual(expected);
    },
    120_000,
  );
});

const state = (status: string) => answer(200, JSON.stringify({ executionId, status, output: 'done' }));

async function watchAt(place: BadPlace, fault: string, patience: string) {
  const limits = ['--request-timeout', `${requestTimeoutMs(fault)}ms`, '--give-up-after', patience];
  const args = ['watch', run, '--max-output', '1MiB', '--interval', '20ms', ...limits, '--json'];
  const { code, stdout } = await runProgram(args, { env: environment(place) });
  return { code, document: JSON.parse(stdout) };
}

test('a watch is ended by no fault that passes, whether it strikes the state or the result', async () => {
  const inAMinute = ['429, seconds', '429, date', '429, huge', '503, seconds'];
  const passing = rows.flatMap(([fault = '', , , , watch = '']) =>
    misdeeds[fault] && watch.startsWith('10') && !inAMinute.includes(fault) ? [fault] : [],
  );
  const ends = await inModeration(passing, async (fault) => {
    let asked = 0;
    const place = await startBadService(() => {
      asked += 1;
      // The second look, and after the third, which tells of the end, the first request for the result.
      const isStruck = asked === 2 || asked === 4;
      return isStruck ? (misdeeds[fault] as Misdeed) : state(asked === 1 ? 'RUNNING' : 'COMPLETED');
    });
    const { code, document } = await watchAt(place, fault, '20s');
    return [fault, { code, output: document.output, asked: asked >= 5 }];
  });
  const expected = passing.map((fault) => [fault, { code: 0, output: 'done', asked: true }]);
  expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(expected));
}, 120_000);

test('a watch that cannot read the result ends with 13 and the state, whatever the fault', async () => {
  const ends = await inModeration(Object.entries(misdeeds), async ([fault, misdeed]) => {
    let asked = 0;
    const place = await startBadService(() => (asked++ === 0 ? state('COMPLETED') : misdeed));
    const { code, document } = await watchAt(place, fault, '300ms');
    return [fault, { code, status: document.status, name: document.problem.name }];
  });
  const end = { code: 13, status: 'COMPLETED', name: 'result_unavailable' };
  expect(ends).toEqual(Object.keys(misdeeds).map((fault) => [fault, end]));
}, 120_000);

function environment({ env }: BadPlace): Record<string, string> {
  const folder = temporaryFolder();
  return {
    RUNCTL_API_KEY: 'key-of-the-matrix',
    RUNCTL_PROJECT: projectId,
    RUNCTL_CONFIG_DIR: `${folder}/config`,
    RUNCTL_STATE_DIR: `${folder}/state`,
    ...env,
  };
}

async function cellOf(command: string, fault: string, patienceMs: number): Promise<string> {
  const misdeed = misdeeds[fault];
  const place = await (misdeed ? startBadService(() => misdeed) : badWays[fault]?.());
  if (!place) throw new Error(`no fault ${fault}`);
  const limits = ['--request-timeout', `${requestTimeoutMs(fault)}ms`, '--give-up-after', `${patienceMs}ms`];
  const args = [...(commands[command] ?? []), ...limits, '--json'];
  const { code, stdout, stderr, tookMs } = await runProgram(args, { env: environment(place) });
  if (tookMs > patienceMs + requestTimeoutMs(fault) + atOnceMs) return `took ${Math.round(tookMs)} ms`;
  if (code !== 0 && !/^runctl: \S.*\n( {2}\S.*\n)?$/m.test(stderr)) return `says nothing: ${stderr}`;
  const count = place.requests();
  const asked = count === undefined ? '–' : count > 1 ? 'again' : count === 1 ? 'once' : 'never';
  return `${code} ${JSON.parse(stdout).problem?.started ?? '-'} ${asked}`;
}
