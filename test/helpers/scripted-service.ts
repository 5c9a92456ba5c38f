import type { Fault } from '../../src/run/fault.ts';
import type { Answer, RunResult, RunSnapshot, Service } from '../../src/run/service.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import type { TriggerRequest } from '../../src/run/trigger.ts';

export const executionId = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
export const projectId = '0b6f2a64-90f5-4ed2-8c8e-5f0a9f3ad001';
export const target = { projectId, automationName: 'nightly' } as const;
export const run = { target, executionId };

export function running(fields: Partial<RunSnapshot> = {}): Answer<RunSnapshot> {
  return state('RUNNING', fields);
}

export function state(status: string, fields: Partial<RunSnapshot> = {}): Answer<RunSnapshot> {
  const isFinal = isFinalStatus(status);
  return { kind: 'ok', value: { executionId, status, isFinal, document: { executionId, status }, ...fields } };
}

export function resultOf(status: string, fields: Partial<RunResult> = {}): Answer<RunResult> {
  const isFinal = isFinalStatus(status);
  return { kind: 'ok', value: { status, isFinal, output: 'done', document: { status, output: 'done' }, ...fields } };
}

export function fault(kind: Fault['kind'], fields: Partial<Fault> = {}): { kind: 'fault'; fault: Fault } {
  return { kind: 'fault', fault: { kind, message: kind.replace('_', ' '), ...fields } };
}

type Script<T> = readonly Answer<T>[];

/** Answers from a script, its last line for ever after. A call without a script fails the test. */
export function scriptedService(scripts: {
  trigger?: Script<RunSnapshot>;
  status?: Script<RunSnapshot>;
  result?: Script<RunResult>;
}): Service & { calls: { trigger: TriggerRequest[]; status: number; result: number } } {
  const calls = { trigger: [] as TriggerRequest[], status: 0, result: 0 };
  const line = <T>(name: string, script: Script<T> | undefined, index: number): Answer<T> => {
    const answer = script?.[Math.min(index, script.length - 1)];
    if (!answer) throw new Error(`unexpected ${name} request`);
    return answer;
  };
  return {
    calls,
    async trigger(request) {
      calls.trigger.push(request);
      return line('trigger', scripts.trigger, calls.trigger.length - 1);
    },
    status: async () => line('status', scripts.status, calls.status++),
    result: async () => line('result', scripts.result, calls.result++),
  };
}
