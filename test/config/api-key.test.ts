import { describe, expect, test } from 'vitest';
import { acceptApiKey, accountOf, maskApiKey } from '../../src/config/api-key.ts';
import { createMemory } from '../helpers/memory-context.ts';

describe('an API key', () => {
  test.each([
    ['', '****'],
    ['1234567', '****'],
    ['12345678901', '****'],
    ['123456789012', '****9012'],
    ['sk-live-0123456789', '****6789'],
  ])('%j is shown as %s', (key, shown) => {
    expect(maskApiKey(key)).toBe(shown);
  });

  test.each(['test-key-123', 'test-key-123\r\n', ' test-key-123', 'test-key-123\u2026'])(
    '%j is protected in output whether it is accepted or refused',
    (text) => {
      const memory = createMemory();
      acceptApiKey(text, 'test', memory);
      expect(memory.secrets.scrub(`it is ${text.trim()}!`)).toBe('it is [secret]!');
    },
  );

  test('has an account that differs from that of others and is not the API key', () => {
    expect(accountOf('test-key')).toMatch(/^[0-9a-f]{8}$/);
    expect(accountOf('test-key')).not.toBe(accountOf('test-kez'));
  });
});
