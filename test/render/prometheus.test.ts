import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { prometheusText } from '../../src/render/prometheus.ts';
import { statisticsOf } from '../../src/runs/statistics.ts';
import { needs } from '../helpers/needs.ts';
import { agent, baseUrl, nightly } from '../journal/records.ts';

const odd = { ...nightly, automationName: 'quote " backslash \\ line\nbreak ü' };
const nowMs = Date.parse('2026-11-22T12:00:00Z');
const run = { startedMs: nowMs - 90_500, endedMs: nowMs - 500, credits: 12, atMs: nowMs - 90_500 };
const statistics = [
  { target: nightly, runs: [{ ...run, status: 'COMPLETED' }] },
  { target: odd, runs: [{ ...run, status: 'FAILED' }] },
  { target: agent, runs: [{ ...run, status: 'RUNNING', endedMs: null, credits: null }] },
].flatMap((past) => statisticsOf({ baseUrl, ...past }, { sinceMs: 0, nowMs }) ?? []);

test('quotation marks, backslashes and line breaks in a label are escaped', () => {
  expect(prometheusText(statistics)).toContain(
    'automation="quote \\" backslash \\\\ line\\nbreak ü",status="FAILED"} 1\n',
  );
});

test('what is unknown has no sample', () => {
  expect(prometheusText(statistics)).not.toMatch(/agent.*quantile|NaN|null/);
  expect(prometheusText([])).not.toMatch(/^[^#]/m);
});

// The package python3-prometheus-client of Debian.
const python = '/usr/bin/python3';
const parser = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse
families = parse(sys.stdin.read())
print(json.dumps([[f.name, f.type, [[s.labels, s.value, s.timestamp] for s in f.samples]] for f in families]))
`;

test("the parser of Prometheus' own client reads back what was written", (context) => {
  const input = prometheusText(statistics);
  const { stdout, stderr } = spawnSync(python, ['-c', parser], { input, encoding: 'utf8' });
  needs(context, 'python3-prometheus-client', stderr !== null && !stderr.includes('ModuleNotFoundError'));
  expect(stderr).toBe('');
  const ofNightly = { base_url: baseUrl, project: nightly.projectId, automation: 'nightly' };
  const ofOdd = { ...ofNightly, automation: odd.automationName };
  const ofAgent = { base_url: baseUrl, agent: agent.agentId };
  expect(JSON.parse(stdout)).toEqual([
    [
      'runctl_runs',
      'gauge',
      [
        [{ ...ofNightly, status: 'COMPLETED' }, 1, null],
        [{ ...ofNightly, status: 'FAILED' }, 0, null],
        [{ ...ofOdd, status: 'COMPLETED' }, 0, null],
        [{ ...ofOdd, status: 'FAILED' }, 1, null],
        [{ ...ofAgent, status: 'COMPLETED' }, 0, null],
        [{ ...ofAgent, status: 'FAILED' }, 0, null],
      ],
    ],
    ['runctl_runs_running', 'gauge', [ofNightly, ofOdd, ofAgent].map((labels, n) => [labels, n === 2 ? 1 : 0, null])],
    ['runctl_runs_unseen', 'gauge', [ofNightly, ofOdd, ofAgent].map((labels) => [labels, 0, null])],
    ['runctl_run_duration_seconds', 'gauge', ['0.5', '0.95'].map((quantile) => [{ ...ofNightly, quantile }, 90, null])],
    ['runctl_credits', 'gauge', [ofNightly, ofOdd].map((labels) => [labels, 12, null])],
    ['runctl_last_completed_timestamp_seconds', 'gauge', [[ofNightly, nowMs / 1000 - 0.5, null]]],
  ]);
});
