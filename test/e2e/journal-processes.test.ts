import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseUrl, idOf, uuid } from '../journal/records.ts';
import { createStateFolder } from '../journal/state-folder.ts';

const bundle = mkdtempSync(join(tmpdir(), 'journal-worker-'));
const worker = join(bundle, 'worker.cjs');

beforeAll(() => {
  const source = join(import.meta.dirname, '../journal/worker.ts');
  buildSync({ entryPoints: [source], outfile: worker, bundle: true, platform: 'node', format: 'cjs' });
});
afterAll(() => rmSync(bundle, { recursive: true }));

test('no record is lost if several processes write at the same time while new files are begun', async () => {
  const { open, folder } = createStateFolder();
  const eachWrites = 40;
  const workers = [0, 1, 2, 3].map((number) =>
    talkOf(
      spawn(process.execPath, [worker, folder, '2500', `${number * eachWrites}`, `${(number + 1) * eachWrites}`], {
        env: {},
      }),
    ),
  );
  for (const talk of await Promise.all(workers)) expect(talk).toHaveLength(2 * eachWrites);
  const runs = [...open().entries()];
  expect(readdirSync(folder).length).toBeGreaterThan(10);
  expect(new Set(runs.map(idOf))).toEqual(new Set(Array.from({ length: 4 * eachWrites }, (_, n) => uuid(n))));
  expect(open().unresolved({ baseUrl })).toEqual([]);
});

test('a process that is killed at any moment leaves a run or an unresolved trigger for everything it sent', async () => {
  const { open, folder } = createStateFolder();
  const killed = await Promise.all(
    [5, 12, 19, 31, 44].map((afterLines, number) => {
      const from = number * 100_000;
      const child = spawn(process.execPath, [worker, folder, '20000', `${from}`, `${from + 100_000}`], { env: {} });
      return talkOf(child, afterLines);
    }),
  );
  const accepted = new Set([...open().entries()].map(idOf));
  const openKeys = new Set(
    open()
      .unresolved({ baseUrl })
      .map(({ idempotencyKey }) => idempotencyKey),
  );
  for (const talk of killed) {
    expect(talk.length).toBeGreaterThan(4);
    for (const line of talk) {
      const [what, number] = line.split(' ');
      const isAccepted = accepted.has(uuid(Number(number)));
      expect(isAccepted || (what === 'sent' && openKeys.has(`key-${number}`)), line).toBe(true);
    }
  }
});

/** The whole lines that a process wrote, once it has ended; it is killed after so many lines. */
async function talkOf(child: ChildProcess, killAfterLines = Number.POSITIVE_INFINITY): Promise<string[]> {
  let text = '';
  child.stdout?.on('data', (data) => {
    text += data;
    if (text.split('\n').length > killAfterLines) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return text.split('\n').slice(0, -1);
}
