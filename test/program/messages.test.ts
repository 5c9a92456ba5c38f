import { describe, expect, test } from 'vitest';
import { nextStepOf } from '../../src/problems/next-step.ts';
import type { Problem } from '../../src/problems/problem.ts';
import {
  noRunProblem,
  refusedTriggerProblem,
  slotTimeoutProblem,
  triggerProblem,
  usedKeyProblem,
} from '../../src/problems/trigger-problems.ts';
import {
  expiredKeyProblem,
  interruptedTriggerProblem,
  otherAccountProblem,
  unknownTriggerProblem,
  withheldProblem,
} from '../../src/problems/unknown-outcome.ts';
import { interruptedProblem, pollProblem } from '../../src/problems/watch-problems.ts';
import { program } from '../../src/program.ts';
import type { Fault } from '../../src/runs/fault.ts';
import { answered, apiKey } from '../helpers/config-guide.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId, target } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';

// What a person reads where something went wrong, in one place, so that the voice can be judged. Those of a watch that
// ended stand in test/problems/watch-problems.test.ts.

const run = { target, executionId };
const identity = { target, idempotencyKey: 'nightly-21' };
const signal = AbortSignal.abort('SIGINT');
const fault = (kind: Fault['kind'], message: string, httpStatus?: number, serviceCode?: string): Fault => ({
  kind,
  message,
  httpStatus,
  serviceCode,
});
const active = { ...fault('already_active', 'it is already running', 422, 'runAlreadyActive'), executionId };
const unavailable = fault('unavailable', 'the service is unavailable', 503);
const unauthorized = fault('unauthorized', 'the API key was refused', 401);
const unknown = { kind: 'unknown', fault: unavailable } as const;
const hour = 3_600_000;
const conflict = fault('already_active', 'it is already running', 422);
const lostTrigger = { ...identity, recorded: { atMs: Date.parse('2026-11-22T02:00:13Z'), ageMs: 60_000 } };
const again = `\`runctl trigger ${projectId}/nightly --idempotency-key nightly-21\``;
const elsewhere = `\nOn any other machine, until 2026-11-23 02:00:13 +0000: ${again}`;
const resend = `\`runctl recover ${projectId}/nightly --resend\``;
const sendsAgain = 'sends it again with the same idempotency key';

const table: [situation: string, problem: Problem, message: string, hint?: string][] = [
  [
    'an automation is running already',
    refusedTriggerProblem(active, { target }),
    'nightly is already running; no run was started (HTTP 422 runAlreadyActive)',
    `\`runctl watch ${projectId}/nightly/${executionId}\``,
  ],
  [
    'an automation does not exist',
    refusedTriggerProblem(fault('not_found', 'not found', 404), { target }),
    "the service doesn't know nightly; no run was started (HTTP 404)",
    'check the name, the project and the base URL: `runctl config list`',
  ],
  [
    'the credits are used up',
    refusedTriggerProblem(fault('no_credits', 'the AI credit balance is 0', 402), { target }),
    "nightly couldn't be triggered: the AI credit balance is 0; no run was started (HTTP 402)",
    'top up the credits, then trigger again',
  ],
  [
    'an API key is refused',
    refusedTriggerProblem(unauthorized, { target }),
    "nightly couldn't be triggered: the API key was refused; no run was started (HTTP 401)",
    '`runctl config list` shows where the API key comes from: replace it there',
  ],
  [
    'a rate limit lasts',
    refusedTriggerProblem({ ...fault('throttled', 'the rate limit was reached', 429), retryAfterMs: 8000 }, { target }),
    "nightly couldn't be triggered: the rate limit was reached; no run was started (HTTP 429)",
    'try again in 8s, as the service asks',
  ],
  [
    'the answer to a trigger is lost',
    triggerProblem(unknown, lostTrigger, signal),
    'the trigger of nightly got no valid response: the service is unavailable; a run may have been started (idempotency key nightly-21) (HTTP 503)',
    `\`runctl recover\` ${sendsAgain}${elsewhere}`,
  ],
  [
    'the answer to a trigger is lost, and the service asks for a long wait',
    triggerProblem({ ...unknown, fault: { ...unknown.fault, retryAfterMs: hour } }, lostTrigger, signal),
    'the trigger of nightly got no valid response: the service is unavailable; a run may have been started (idempotency key nightly-21) (HTTP 503)',
    `in 1h, as the service asks: ${resend} ${sendsAgain}${elsewhere}`,
  ],
  [
    'the answer to a trigger is lost, and the service asks for a shorter wait',
    triggerProblem({ ...unknown, fault: { ...unknown.fault, retryAfterMs: 0.9 * hour } }, lostTrigger, signal),
    'the trigger of nightly got no valid response: the service is unavailable; a run may have been started (idempotency key nightly-21) (HTTP 503)',
    `in 54m, as the service asks: \`runctl recover\` ${sendsAgain}${elsewhere}`,
  ],
  [
    'the answer to a trigger is lost, and nothing could be recorded',
    triggerProblem(unknown, identity, signal),
    'the trigger of nightly got no valid response: the service is unavailable; a run may have been started (idempotency key nightly-21) (HTTP 503)',
    `${again} ${sendsAgain} (within 24h)`,
  ],
  [
    'a repeat met a conflict',
    unknownTriggerProblem(conflict, { ...lostTrigger, hasMetConflict: true }),
    'the trigger of nightly got no valid response; when it was repeated, a run was active, which may be the one it started (idempotency key nightly-21) (HTTP 422)',
    `when it has finished: ${resend} ${sendsAgain}${elsewhere}`,
  ],
  [
    'a repeat met a conflict that names a run',
    unknownTriggerProblem(active, { ...lostTrigger, hasMetConflict: true, activeExecutionId: executionId }),
    `the trigger of nightly got no valid response; when it was repeated, run ${executionId} was active and may be the one it started (idempotency key nightly-21) (HTTP 422 runAlreadyActive)`,
    `\`runctl watch ${projectId}/nightly/${executionId}\` follows that run\nwhen it has finished: ${resend} ${sendsAgain}${elsewhere}`,
  ],
  [
    'the answer is lost where keys are ignored',
    unknownTriggerProblem(unknown.fault, { ...lostTrigger, ignoresKeys: true }),
    "the trigger of nightly got no valid response: the service is unavailable; a run may have been started (idempotency key nightly-21) (HTTP 503). It isn't sent again: the service ignores idempotency keys, so a second run could start",
    `look in the service for a run of nightly that began at about 2026-11-22 02:00:13 +0000; if there is none: ${resend}`,
  ],
  [
    '`recover` does not send it where keys are ignored',
    withheldProblem({ ...lostTrigger, ignoresKeys: true }),
    "the trigger of nightly at 2026-11-22 02:00:13 +0000 isn't sent again: the service ignores idempotency keys, so a second run could start (idempotency key nightly-21)",
    `look in the service for a run of nightly that began at about 2026-11-22 02:00:13 +0000; if there is none, send it again with ${resend}`,
  ],
  [
    '`recover` does not send one that is too old',
    withheldProblem({ ...lostTrigger, recorded: { ...lostTrigger.recorded, ageMs: 2 * hour } }),
    "the trigger of nightly at 2026-11-22 02:00:13 +0000 isn't sent again: it is 2h old, and if it never arrived, its run would start now (idempotency key nightly-21)",
    `look in the service for a run of nightly that began at about 2026-11-22 02:00:13 +0000; if there is none, send it again with ${resend}`,
  ],
  [
    'a trigger is interrupted on its way',
    interruptedTriggerProblem(signal, lostTrigger),
    'interrupted; a run of nightly may have been started (idempotency key nightly-21)',
    `\`runctl recover\` ${sendsAgain}${elsewhere}`,
  ],
  [
    'a trigger is interrupted on its way where keys are ignored',
    interruptedTriggerProblem(signal, { ...lostTrigger, ignoresKeys: true }),
    "interrupted; a run of nightly may have been started (idempotency key nightly-21). It isn't sent again: the service ignores idempotency keys, so a second run could start",
    `look in the service for a run of nightly that began at about 2026-11-22 02:00:13 +0000; if there is none: ${resend}`,
  ],
  ['a trigger is interrupted before', noRunProblem(signal), 'interrupted; no run was started'],
  [
    'an idempotency key belongs to another API key',
    otherAccountProblem(lostTrigger),
    'the idempotency key nightly-21 was sent with another API key, and may have started a run of nightly. With this API key a second run could start',
    '`runctl config list` shows where the API key comes from: set the one that sent the trigger, then `runctl recover`\nIf that API key no longer exists, look in the service for a run of nightly that began at about 2026-11-22 02:00:13 +0000; runctl stops tracking this trigger at 2026-11-23 02:00:13 +0000',
  ],
  [
    'an idempotency key is a day old',
    expiredKeyProblem(lostTrigger),
    'the idempotency key nightly-21 was first sent more than 24h ago, and may have started a run of nightly',
    'look in the service for a run of nightly that began at about 2026-11-22 02:00:13 +0000; if there is none, trigger with a new idempotency key',
  ],
  [
    'an idempotency key is used up',
    usedKeyProblem(identity),
    'the idempotency key nightly-21 belongs to a run of nightly that has finished; no run was started',
    'trigger with a new idempotency key',
  ],
  [
    'an automation is running until the timeout',
    slotTimeoutProblem(hour, identity, active),
    'nightly was still running after 1h; no run was started (HTTP 422 runAlreadyActive)',
    'wait longer with `--timeout`',
  ],
  [
    'a run does not exist',
    pollProblem(fault('not_found', 'not found', 422), { operation: 'status', run, argument: 'nightly' }),
    `nightly has no run ${executionId} (HTTP 422)`,
    'check the id, the project and the automation; `runctl list` shows the runs of this machine',
  ],
  [
    "a result can't be read",
    pollProblem(unavailable, { operation: 'result', run, argument: 'nightly' }),
    "the result of nightly couldn't be read: the service is unavailable; the run is not affected (HTTP 503)",
    '`runctl result nightly`',
  ],
  [
    'Ctrl-C is pressed',
    interruptedProblem(signal, run, 'nightly'),
    'stopped watching nightly; the run continues',
    '`runctl watch nightly`',
  ],
];

test.each(table)('where %s, runctl says so in common words', (_, { facts }, message, hint) => {
  expect([facts.message, facts.hint]).toEqual([message, hint]);
});

test.each([
  ['FAILED', 'step_failed', 'fix the failing step, then: `runctl trigger nightly --watch`'],
  ['TIMED_OUT', 'timed_out', 'runs are limited to 3 hours; split the work, then: `runctl trigger nightly --watch`'],
  ['FAILED', 'not_runnable', 'fix the Automation, then: `runctl trigger nightly --watch`'],
  [
    'FAILED',
    'lease_lost',
    "the run lost its environment, which isn't the Automation's fault; start a new run: `runctl trigger nightly --watch`",
  ],
  ['CANCELLED', undefined, 'start a new run: `runctl trigger nightly --watch`'],
  ['COMPLETED', undefined, undefined],
])('after a run that finished %s (%s), the next step is: %s', (status, errorType, step) => {
  expect(nextStepOf(run, { status, isFinal: true }, errorType, projectId)).toBe(step);
});

const nowhere = 'recorded for <base URL> (journal: <journal>)';
const trigger = 'runctl trigger <automation>';

/** What commands print, stdout before stderr, on a machine with nothing in its journal. */
const atFirst: [argv: string, text: string][] = [
  ['list', `No runs ${nowhere}. Runs started on other machines aren't listed. Start one with \`${trigger}\`.`],
  [
    'status',
    'runctl: no run was started or watched here yet\n  → name it in full as <projectId>/<automationName>/<executionId>',
  ],
  ['watch --all', 'No unfinished runs.'],
  ['recover', `Nothing to recover: no unresolved triggers ${nowhere}.`],
  ['trigger', "runctl: missing required argument 'automation'\n  → see `runctl trigger --help`"],
];

/** The same where nightly completed and weekly failed. */
const later: [argv: string, text: string][] = [
  [
    'list',
    'STATUS     AUTOMATION  RUN                                   STARTED  TOOK  POLLED  CREDITS  ORIGIN  ERROR\nFAILED     weekly      <id>  3h       1m    -       12       -       step_failed: Step "Send the report": the mail server said no\nCOMPLETED  nightly     <id>  3h       1m    -       12       -       -',
  ],
  ['list x', `No runs of x ${nowhere}. Runs started on other machines aren't listed. \`runctl list\` shows all.`],
  [
    'list --status foo',
    'runctl: there is no status "FOO"\n  → statuses are RUNNING, COMPLETED, FAILED, TIMED_OUT, CANCELLED, UNKNOWN, NOT_FOUND',
  ],
  [
    'status nigthly',
    'runctl: no run here matches "nigthly"\n  → see `runctl list`, or name it in full as <projectId>/<automationName>/<executionId>',
  ],
  [
    'trigger',
    "runctl: missing required argument 'automation'\n  → known on this machine: weekly, nightly; see `runctl trigger --help`",
  ],
  ['watch nightly --all', 'runctl: --all takes no run arguments\n  → leave out one of the two'],
  ['--profile list', 'runctl: no command was given\n  → runctl --profile <name> <command>'],
  ['--profile x', 'runctl: no command was given\n  → runctl --profile <name> <command>'],
  ['--json=1 list', "runctl: option '--json' takes no value\n  → leave out what follows `--json`"],
  ['cancel', "runctl: unknown command 'cancel'\n  → the service has no way to cancel a run"],
  ['logs', "runctl: unknown command 'logs'\n  → the service has no logs of a run; `runctl result` prints its output"],
  ['agent status', "runctl: missing required argument 'agentId'\n  → see `runctl agent status --help`"],
  ['explain 99', 'runctl: there is no exit code "99"\n  → `runctl explain` lists the exit codes'],
];

test('commands say in common words what they found', async () => {
  const automations = { nightly: { duration: '1m' }, weekly: { duration: '1m', outcome: 'FAILED' } } as const;
  const { env, clock, endRuns } = await withEmulator({ automations });
  const run = async (argv: string) => {
    const { stdout, stderr } = await runProgram(argv.split(' '), { env: { ...env, LANG: 'C.UTF-8' }, clock });
    const said = (stdout + stderr).trimEnd().replaceAll(env.RUNCTL_BASE_URL ?? '', '<base URL>');
    return said.replaceAll(env.RUNCTL_STATE_DIR ?? '', '<journal>').replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<id>');
  };
  const printedBy = async (rows: typeof later) => {
    const printed: typeof later = [];
    for (const [argv] of rows) printed.push([argv, await run(argv)]);
    return printed;
  };
  expect(await printedBy(atFirst)).toEqual(atFirst);
  await run('trigger nightly weekly');
  endRuns();
  expect(await run('watch nightly weekly')).toContain('1 completed · 1 failed');
  expect(await printedBy(later)).toEqual(later);
});

const home = { HOME: '/nowhere' };
const asUsual = { LANG: 'C.UTF-8' };

test.each([
  [
    'trigger a',
    home,
    'runctl: no base URL is set\n  → run `runctl config`, or set RUNCTL_BASE_URL or `--base-url <url>`',
  ],
  ['trigger a', {}, 'runctl: no base URL is set\n  → set RUNCTL_BASE_URL or `--base-url <url>`'],
  [
    'list --profile x',
    home,
    'runctl: there is no profile "x" (flag --profile) in /nowhere/.config/runctl/config.json\n  → create it with `runctl config --profile x`',
  ],
  [
    'list --profile x',
    {},
    'runctl: there is no profile "x" (flag --profile) in any config file\n  → set HOME or RUNCTL_CONFIG_DIR',
  ],
])('without settings, runctl %s in %j names what can be done there', async (argv, env, text) => {
  const { stderr } = await runProgram(argv.split(' '), { env: { ...env, ...asUsual } });
  expect(stderr.trimEnd()).toBe(text);
});

/** What is typed into `runctl config`, and what it says then. */
const guide: [typed: string, sentence?: string][] = [
  ['ftp://x', "The base URL doesn't begin with https://; use a URL like https://api.example.com."],
  ['', 'The base URL is required.'],
  ['<url>'],
  ['abc', 'The API key is shorter than 4 characters; copy it again: the whole API key and nothing else.'],
  [
    'wrong-key-0123456789',
    "That doesn't work: the API key was refused (HTTP 401 invalidApiKey). Type another API key, or press Enter to keep it.",
  ],
  [apiKey],
  ['nightly', 'The project is not a UUID; use a UUID like 123e4567-e89b-42d3-a456-426614174000.'],
  [projectId],
];

test('runctl config says in common words what it does, and what is wrong with an answer', async () => {
  const typed = guide.map(([text]) => (text === '<url>' ? (url: string) => url : text));
  const { said, url, folder } = await answered(typed);
  expect(said).toEqual([
    `The answers are stored in ${folder}/config.json, which only you can read. Enter keeps the value in brackets; Ctrl-C cancels without saving.`,
    ...guide.flatMap(([, sentence]) => sentence ?? []),
    'Saved in profile "default".',
    `✔ ${new URL(url).host} responds and accepts this API key.`,
    "The project can't be verified: the service has no way to check it.",
    '  → runctl trigger <automation> --watch',
  ]);
});

/** Words that this house replaced by common ones. */
const odd = /\b(goes on|settle|mend|look at|last seen|base address|patience|nobody knows|ridden out)\b/;

test('no message uses a word that has a common one', () => {
  expect(table.filter(([, , message, hint]) => odd.test(`${message} ${hint}`))).toEqual([]);
});

test.each([...(program.commands ?? []).map(({ name }) => name), 'settings'])(
  'nor does the help of %s',
  async (name) => {
    const { code, stdout } = await runProgram(['help', name]);
    expect([code, odd.exec(stdout)]).toEqual([0, null]);
  },
);

describe('a page is called a page, whatever its HTTP status', () => {
  const asked = [
    ['trigger', 'nightly', '--give-up-after', '1ms'],
    ['status', `nightly/${executionId}`, '--give-up-after', '1ms'],
    ['doctor'],
  ];
  const statuses = [200, 400, 401, 402, 403, 404, 410, 422, 429, 500, 501, 503];
  test.each(statuses.flatMap((status) => asked.map((argv) => [status, argv] as const)))(
    '%i: %j',
    async (status, argv) => {
      const page = '<html><head><title>CorpProxy</title></head></html>';
      const { env } = await startFaultyService(() => answer(status, page));
      const { clock, env: folders } = await withEmulator({});
      const { stdout, stderr } = await runProgram(argv, {
        env: { ...folders, ...env, RUNCTL_PROJECT: projectId },
        clock,
      });
      expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toMatch(/page, "CorpProxy"/);
    },
  );
});
