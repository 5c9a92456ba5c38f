import { expect, test } from 'vitest';
import { createApiKeys } from '../../src/connection/api-keys.ts';
import { resolveSettings } from '../../src/settings/resolve.ts';
import { createMemory } from '../helpers/memory-context.ts';

const [oldKey, newKey] = ['test-key-123', 'test-key-456'];

test('an idempotency key that is released is sent with the new API key, and no other one is', async () => {
  const context = createMemory({ RUNCTL_API_KEY: oldKey, RUNCTL_BASE_URL: 'https://service.test' });
  const settings = await resolveSettings({}, context);
  const reread = async () => ({ value: newKey, text: newKey, source: 'a file' });
  const apiKeys = createApiKeys({ ...settings, apiKey: { ...settings.apiKey, reread } }, context);
  const apiKeyOf = async (idempotencyKey: string) => (await apiKeys.apiKeyFor(idempotencyKey)).value;
  expect([await apiKeyOf('refused'), await apiKeyOf('in doubt')]).toEqual([oldKey, oldKey]);
  expect(await apiKeys.reloadApiKey({ kind: 'unauthorized', message: '' })).toEqual({ kind: 'changed' });
  apiKeys.releaseApiKey('refused');
  expect([await apiKeyOf('refused'), await apiKeyOf('in doubt')]).toEqual([newKey, oldKey]);
});
