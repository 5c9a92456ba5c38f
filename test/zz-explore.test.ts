import { test, expect } from 'vitest';
import { given, connectionLost, notFound, executionId, projectId, running, accepted, alreadyActive, json } from './given.ts';
test('x', async () => {
  const { runctl, requests } = await given({trigger:[accepted, connectionLost]});
  for (const line of (process.env.LINES ?? '').split('|')) {
    const r = await runctl(line);
    console.log(`$ ${line}\n[${r.exitCode}] ${requests.length}\n--out\n${r.stdout}--err\n${r.stderr}`);
  }
  expect(1).toBe(1);
});
