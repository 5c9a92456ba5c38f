import type { Entry } from '../../src/run/entry.ts';
import type { Target } from '../../src/run/run.ts';
import { projectId } from '../fault-kit/start.ts';

export { projectId };
export const baseUrl = 'https://api.example.com';
export const account = 'c0ffee00';
export const nightly: Target = { projectId, automationName: 'nightly' };
export const weekly: Target = { projectId, automationName: 'weekly/report' };

/** The id of a run; undefined for a trigger without one. */
export const idOf = (entry: Entry) => (entry.kind === 'unresolved' ? undefined : entry.executionId);

/** A UUID for a small number. */
export const uuid = (n: number) => `10000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

export const key = (n: number, target: Target = nightly) => ({ baseUrl, target, idempotencyKey: `key-${n}` });
export const triggered = (n: number, target: Target = nightly) =>
  ({
    type: 'triggered',
    ...key(n, target),
    attempt: 'attempt-1',
    account,
    body: '{}',
    userProvided: false,
    first: true,
  }) as const;
export const accepted = (n: number, target: Target = nightly) =>
  ({ type: 'accepted', ...key(n, target), executionId: uuid(n), status: 'RUNNING' }) as const;
export const refused = (n: number, target: Target = nightly) =>
  ({ type: 'refused', ...key(n, target), attempt: 'attempt-1', name: 'already_active' }) as const;
export const status = (n: number, status: string, target: Target = nightly) =>
  ({ type: 'status', baseUrl, target, executionId: uuid(n), status }) as const;
