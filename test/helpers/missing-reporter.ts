import type { Reporter, TestCase } from 'vitest/node';

/** Names, in the last line, what would have to be there for the tests that were skipped. */
export default class MissingReporter implements Reporter {
  private readonly missing = new Set<string>();
  private skipped = 0;

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    const [, name] = /^needs (.+)/.exec((result.state === 'skipped' && result.note) || '') ?? [];
    if (!name) return;
    this.missing.add(name);
    this.skipped += 1;
  }

  onTestRunEnd(): void {
    const names = [...this.missing].sort().join(', ');
    if (names) console.log(`${this.skipped} tests were skipped. They need: ${names}.`);
  }
}
