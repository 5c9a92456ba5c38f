import { expect, test } from 'vitest';
import { historyIn } from '../../src/journal/read-history.ts';
import type { JournalRecord, NewRecord } from '../../src/journal/records.ts';
import { accepted, baseUrl, key, nightly, refused, status, triggered, uuid } from './records.ts';

const at = '2026-11-22T03:00:00.000Z';
const historyOf = (...records: NewRecord[]) =>
  historyIn(records.map((record) => ({ ...record, schema: 1, at, by: 'watch' }) as JournalRecord));

const sent = { ...triggered(1), process: 'host 1 1' };
const lost: NewRecord = { type: 'in_doubt', ...key(1), reason: 'reset' };
const hook = { baseUrl, target: nightly, executionId: uuid(1) };
const times = { startedAt: at, completedAt: '2026-11-22T03:00:09.000Z' };

test.each<[string, NewRecord[], object[]]>([
  [
    'a trigger and its run',
    [sent, { ...accepted(1), attempt: 'attempt-1' }],
    [
      { what: 'sent', process: 'host 1 1', idempotencyKey: 'key-1' },
      { what: 'accepted', process: 'host 1 1', executionId: uuid(1), status: 'RUNNING' },
    ],
  ],
  [
    'a trigger whose response was lost, and that another process resolves',
    [
      sent,
      lost,
      { ...lost, isLast: true },
      { ...sent, attempt: 'attempt-2', first: undefined, process: 'host 2 2' },
      { ...accepted(1), attempt: 'attempt-2' },
    ],
    [
      { what: 'sent' },
      { what: 'response_lost', reason: 'reset' },
      { what: 'sent_again', process: 'host 2 2' },
      { what: 'resolved', process: 'host 2 2' },
    ],
  ],
  [
    'a refusal with its reason and the run that is active',
    [{ ...refused(1), reason: 'it is already running', activeExecutionId: uuid(2) }],
    [{ what: 'refused', refusal: 'already_active', reason: 'it is already running', executionId: uuid(2) }],
  ],
  [
    'a refusal of a repeat, which says nothing of the trigger, and none that was just told',
    [
      sent,
      lost,
      { ...sent, attempt: 'attempt-2', first: undefined },
      { ...refused(1), attempt: 'attempt-2', name: 'unauthorized', reason: 'the API key was refused' },
      { ...sent, attempt: 'attempt-3', first: undefined },
      { ...lost, attempt: 'attempt-3', reason: 'it is already running' },
      { ...refused(1), attempt: 'attempt-3', reason: 'it is already running' },
    ],
    [
      { what: 'sent' },
      { what: 'response_lost' },
      { what: 'sent_again' },
      { what: 'repeat_refused', reason: 'the API key was refused' },
      { what: 'sent_again' },
      { what: 'response_lost', reason: 'it is already running' },
    ],
  ],
  [
    'a refusal of the repeat of a trigger whose process was killed, and then its run',
    [
      sent,
      { ...sent, attempt: 'attempt-2', first: undefined },
      { ...refused(1), attempt: 'attempt-2', reason: 'it is already running' },
      { ...sent, attempt: 'attempt-3', first: undefined },
      { ...accepted(1), attempt: 'attempt-3' },
    ],
    [
      { what: 'sent' },
      { what: 'sent_again' },
      { what: 'repeat_refused', reason: 'it is already running' },
      { what: 'sent_again' },
      { what: 'resolved' },
    ],
  ],
  [
    'a run that the first of two processes gets which use a key at once',
    [sent, { ...sent, attempt: 'attempt-2', first: undefined }, { ...accepted(1), attempt: 'attempt-1' }],
    [{ what: 'sent' }, { what: 'sent_again' }, { what: 'accepted' }],
  ],
  [
    'a refusal that ends the doubt, and then a run of the same key',
    [
      sent,
      { ...lost, attempt: 'attempt-1' },
      { ...lost, attempt: 'attempt-1', reason: 'it is already running' },
      { ...refused(1), reason: 'it is already running' },
      { ...sent, attempt: 'attempt-2' },
      { ...accepted(1), attempt: 'attempt-2' },
    ],
    [
      { what: 'sent' },
      { what: 'response_lost', reason: 'reset' },
      { what: 'response_lost', reason: 'it is already running' },
      { what: 'refused', reason: 'it is already running' },
      { what: 'sent' },
      { what: 'accepted' },
    ],
  ],
  [
    'the hook of a command that has several runs',
    [{ type: 'command_hook_ended', hook: '--on-exit', baseUrl, target: nightly, failure: 'exited with 3' }],
    [{ what: 'hook_ended', hook: '--on-exit', failure: 'exited with 3' }],
  ],
  [
    'a refusal because of an older run, which ends a trigger in doubt',
    [sent, { ...lost, attempt: 'attempt-1' }, { ...refused(1), reason: 'it is already running' }],
    [{ what: 'sent' }, { what: 'response_lost' }, { what: 'refused', refusal: 'already_active' }],
  ],
  [
    'the same failure of another attempt',
    [sent, { ...lost, attempt: 'attempt-1' }, { ...lost, attempt: 'attempt-1' }, { ...lost, attempt: 'attempt-2' }],
    [{ what: 'sent' }, { what: 'response_lost' }, { what: 'response_lost' }],
  ],
  ['a trigger that is superseded', [{ type: 'superseded', ...key(1), process: 'host 2 2' }], [{ what: 'superseded' }]],
  ['a trigger that nobody tracks', [{ type: 'reused_key', ...key(1) }], [{ what: 'untracked' }]],
  ['a run that was only looked at', [{ ...status(1, 'RUNNING'), first: true }], [{ what: 'looked_at' }]],
  [
    'a run that had finished when it was looked at, and no end of its own',
    [
      { ...status(1, 'FAILED'), first: true },
      { ...status(1, 'FAILED'), creditsCharged: 2 },
    ],
    [{ what: 'looked_at', status: 'FAILED' }],
  ],
  [
    'the end of a run under its idempotency key, once, and no poll',
    [accepted(1), status(1, 'RUNNING'), { ...status(1, 'COMPLETED'), ...times }, status(1, 'FAILED')],
    [
      { what: 'accepted' },
      { what: 'finished', status: 'COMPLETED', durationMs: 9000, idempotencyKey: 'key-1', by: 'watch' },
    ],
  ],
  ['a status that is not known', [status(1, 'PAUSED')], [{ what: 'status', status: 'PAUSED' }]],
  ['a run that the service forgot', [{ type: 'not_found', ...hook }], [{ what: 'forgotten' }]],
  [
    'a hook',
    [
      { type: 'hook_due', ...hook },
      { type: 'hook_begun', ...hook, process: 'host 3 3' },
      { type: 'hook_ended', ...hook, failure: 'exited with 3' },
    ],
    [
      { what: 'hook_due' },
      { what: 'hook_begun', process: 'host 3 3' },
      { what: 'hook_ended', failure: 'exited with 3' },
    ],
  ],
  [
    'what the service does with idempotency keys',
    (['honored', 'ignored'] as const).map((treatment) => ({ type: 'keys_seen', treatment, baseUrl, target: nightly })),
    [{ what: 'keys_honored' }, { what: 'keys_ignored' }],
  ],
])('shows %s', (_, records, expected) => {
  const events = historyOf(...records);
  expect(events).toMatchObject(expected);
  expect(events).toHaveLength(expected.length);
});
