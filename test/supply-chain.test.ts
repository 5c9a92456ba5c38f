import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scripts } from '../package.json';

interface Locked {
  integrity?: string;
  resolved?: string;
}

const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'),
);
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

test('npm checks every package of the lock file, also those of other systems', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
});

test('no package comes from elsewhere than the registry', () => {
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('whoever installs the package runs no script of ours', () => {
  const atInstall = ['preinstall', 'install', 'postinstall'];
  expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
});
