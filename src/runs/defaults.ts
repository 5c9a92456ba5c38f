export const defaults = {
  giveUpAfterMs: 30_000,
  triggerGiveUpAfterMs: 120_000,
  watchGiveUpAfterMs: 600_000, // longer than a deployment or a router is out
  // The service's own limit of a run, 3 h, and a margin.
  timeoutMs: 11_700_000,
  recoverMaxAgeMs: 3_600_000,
  // docs/service.md, Idempotency keys are remembered for 24 hours.
  keyRetentionMs: 86_400_000,
  rate: 10,
  maxOutputBytes: 64 * 1024 * 1024,
  listLimit: 20,
  maxReruns: 1,
  ifActive: 'fail',
} as const;

/** A wait is reported again after the first of these, and then after the second. Silence looks like a hang. */
export const signOfLifeMs = 60_000;
export const laterSignOfLifeMs = 300_000;
