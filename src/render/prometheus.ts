import type { Statistics } from '../runs/statistics.ts';

interface Metric {
  name: string;
  help: string;
  samples(statistics: Statistics): [value: number | null, labels?: Record<string, string>][];
}

const seconds = (ms: number | null) => (ms === null ? null : ms / 1000);

// All metrics are gauges, as they count the runs of a period that ends now, and so can fall.
const metrics: readonly Metric[] = [
  {
    name: 'runctl_runs',
    help: 'Runs that finished in the period, by final status.',
    samples: ({ statuses }) =>
      Object.entries({ COMPLETED: 0, FAILED: 0, ...statuses }).map(([status, count]) => [count, { status }]),
  },
  { name: 'runctl_runs_running', help: 'Unfinished runs.', samples: ({ running }) => [[running]] },
  {
    name: 'runctl_runs_unseen',
    help: 'Runs that must have finished, but whose final status is unknown.',
    samples: ({ unseen }) => [[unseen]],
  },
  {
    name: 'runctl_run_duration_seconds',
    help: 'Durations of the runs that COMPLETED in the period.',
    samples: ({ medianMs, p95Ms }) => [
      [seconds(medianMs), { quantile: '0.5' }],
      [seconds(p95Ms), { quantile: '0.95' }],
    ],
  },
  { name: 'runctl_credits', help: 'Credits of the period, as far as known.', samples: ({ credits }) => [[credits]] },
  {
    name: 'runctl_last_completed_timestamp_seconds',
    help: 'When the last run that COMPLETED in the period did so.',
    samples: ({ lastCompletedMs }) => [[seconds(lastCompletedMs)]],
  },
];

/** The text format 0.0.4 of Prometheus, without timestamps, which the textfile collector refuses. */
export function prometheusText(all: readonly Statistics[]): string {
  return metrics.map((metric) => textOf(metric, all)).join('');
}

function textOf({ name, help, samples }: Metric, all: readonly Statistics[]): string {
  const lines = all.flatMap((statistics) =>
    samples(statistics).flatMap(([value, labels]) =>
      value === null ? [] : `${name}{${labelsOf({ ...identityOf(statistics), ...labels })}} ${value}\n`,
    ),
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}

function identityOf({ baseUrl, target }: Statistics): Record<string, string> {
  return target.family === 'agent'
    ? { base_url: baseUrl, agent: target.agentId }
    : { base_url: baseUrl, project: target.projectId, automation: target.automationName };
}

const labelsOf = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(
      ([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, (mark) => (mark === '\n' ? '\\n' : `\\${mark}`))}"`,
    )
    .join(',');
