import { expect, test } from 'vitest';
import { triggerAll } from '../../src/session/trigger-runs.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, scriptedService, target } from '../helpers/scripted-service.ts';
import { createSession } from '../helpers/session.ts';

test('a refusal that arrives as the user presses Ctrl-C is reported, with its own exit code', async () => {
  const context = createMemory();
  const service = {
    ...scriptedService({}),
    async trigger() {
      context.interrupt('SIGINT');
      return fault('no_credits', { httpStatus: 402 });
    },
  };
  const session = createSession(service, { context });
  expect(await triggerAll([{ target, body: '{}' }], { json: true }, session)).toBe(8);
  expect(JSON.parse(context.out()).problem).toMatchObject({ name: 'no_credits', started: 'no', httpStatus: 402 });
});
