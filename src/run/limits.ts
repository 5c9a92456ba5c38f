export const defaults = {
  giveUpAfterMs: 600_000, // a deployment or a router takes less than this to come back
  readGiveUpAfterMs: 30_000, // `status` and `result`, for which somebody waits
  listGiveUpAfterMs: 30_000,
  // current statuses are useful in a list, but not worth a longer wait
  listGiveUpAtTerminalMs: 3_000,
  timeoutMs: 11_700_000, // the service ends a run after 3 hours; this adds a margin
  recoverMaxAgeMs: 3_600_000,
  rate: 10,
  maxOutputBytes: 64 * 1024 * 1024,
  listLimit: 20,
} as const;

/** What the service does, which no setting changes. */
export const serviceLimits = {
  keyRetentionMs: 86_400_000, // docs/service.md, Idempotency keys work for Automations
} as const;

export const maxIdempotencyKey = 255;

/**
 * A long wait is reported again after the first of these times, then after every further period of
 * the second.
 */
export const heartbeatMs = 60_000;
export const laterHeartbeatMs = 300_000;
