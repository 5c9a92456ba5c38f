import { describe, expect, test } from 'vitest';
import { parseBaseUrl } from '../../src/config/base-url.ts';

describe('a base address', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com//', 'https://api.example.com'],
    ['https://api.example.com/v0', 'https://api.example.com'],
    ['https://api.example.com/v0/', 'https://api.example.com'],
    ['https://api.example.com/tenant/a/', 'https://api.example.com/tenant/a'],
    ['https://api.example.com/tenant/v0/', 'https://api.example.com/tenant'],
    ['https://api.example.com/v01', 'https://api.example.com/v01'],
    ['https://api.example.com/mov0', 'https://api.example.com/mov0'],
    ['https://api.example.com/@scope', 'https://api.example.com/@scope'],
    ['HTTPS://API.Example.com:443/x', 'https://api.example.com/x'],
    ['https://api.example.com:8443', 'https://api.example.com:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://api.localhost', 'http://api.localhost'],
    ['http://127.0.0.1:9/v0', 'http://127.0.0.1:9'],
    ['http://127.1', 'http://127.0.0.1'],
    ['http://127.255.0.3', 'http://127.255.0.3'],
    ['http://[::1]:80/', 'http://[::1]'],
  ])('%s is taken as %s', (text, taken) => {
    expect(parseBaseUrl(text, 'test')).toBe(taken);
    expect(parseBaseUrl(taken, 'test')).toBe(taken);
  });

  test.each([
    ['http://api.example.com', 'must begin with https://'],
    ['http://localhost.example.com', 'must begin with https://'],
    ['http://127.0.0.1.example.com', 'must begin with https://'],
    ['http://notlocalhost', 'must begin with https://'],
    ['http://10.0.0.1', 'must begin with https://'],
    ['http://[::2]', 'must begin with https://'],
    ['https://user:hunter2@api.example.com', 'user name or password'],
    ['https://hunter2@api.example.com', 'user name or password'],
    ['https://api.example.com/?', 'query or a fragment'],
    ['https://api.example.com/?key=hunter2', 'query or a fragment'],
    ['https://api.example.com/#hunter2', 'query or a fragment'],
    ['https://api.example .com', 'a blank or a control'],
    [' https://api.example.com', 'a blank or a control'],
    ['https://api.exa\tmple.com', 'a blank or a control'],
    ['https://api.example.com\n', 'a blank or a control'],
    ['https://api.example.com/\u0000', 'a blank or a control'],
    ['api.example.com', 'does not begin with https://'],
    ['localhost:8080', 'does not begin with https://'],
    ['https:api.example.com', 'does not begin with https://'],
    ['ftp://api.example.com', 'does not begin with https://'],
    ['', 'does not begin with https://'],
    ['https://', 'is not a valid URL'],
    ['https://api.example.com:99999', 'is not a valid URL'],
  ])('%j is refused: %s', (text, why) => {
    expect(() => parseBaseUrl(text, 'RUNCTL_BASE_URL')).toThrow(why);
    expect(() => parseBaseUrl(text, 'RUNCTL_BASE_URL')).toThrow('RUNCTL_BASE_URL');
    expect(() => parseBaseUrl(text, 'RUNCTL_BASE_URL')).not.toThrow('hunter2');
  });
});
