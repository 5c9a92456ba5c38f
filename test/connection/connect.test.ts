import { expect, test } from 'vitest';
import { connect } from '../../src/connection/connect.ts';
import { createMemory } from '../helpers/memory-context.ts';

test("a proxy's password is hidden from the first request on, with its user and alone", async () => {
  const memory = createMemory({
    RUNCTL_API_KEY: 'test-key-4f1b7c9d2e',
    RUNCTL_BASE_URL: 'https://service.test',
    HTTPS_PROXY: 'http://user:pass%2Dword@proxy.test:3128',
  });
  await connect({}, memory);
  expect(memory.secrets.scrub('user:pass-word, pass-word')).toBe('[secret], [secret]');
  expect(memory.secrets.scrub(Buffer.from('user:pass-word').toString('base64'))).toMatch(/^\[secret\]=*$/);
});
