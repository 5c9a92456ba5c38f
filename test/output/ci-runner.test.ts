import { expect, test } from 'vitest';
import { withoutCommands, withoutCommandsInJson } from '../../src/output/ci-runner.ts';

test.each([
  ['::set-output name=a::b', ': :set-output name=a: :b'],
  ['fine\n  ::add-mask::a', 'fine\n  : :add-mask: :a'],
  ['in the middle ::add-mask::a', 'in the middle : :add-mask: :a'],
  ['\u0085::Group::a', '\u0085: :Group: :a'],
  [':::notice::a', ':: :notice: :a'],
  ['[::1]:8080', '[::1]:8080'],
  ['###[group]a', '### [group]a'],
  ['anywhere ##[command]rm', 'anywhere ## [command]rm'],
  ['a: b', 'a: b'],
])('nothing in %j is obeyed by the runner', (text, shown) => {
  expect(withoutCommands(text)).toBe(shown);
});

test('a JSON document without commands is the same document', () => {
  const document = { a: '##[group]', b: ['###[x', '::error::'] };
  const json = withoutCommandsInJson(JSON.stringify(document));
  expect(json).not.toContain('##[');
  expect(JSON.parse(json)).toEqual(document);
});
