/** The defaults of the options; times in milliseconds. */
export const defaults = {
  /** `--give-up-after` of a command that asks once. */
  giveUpAfterMs: 30_000,
  /** `--give-up-after` of a trigger. */
  triggerGiveUpAfterMs: 120_000,
  /** `--give-up-after` of a watch: longer than a deployment, a router or a gateway is out. */
  watchGiveUpAfterMs: 600_000,
  /** `--timeout`: the service's own limit of a run (3 h) and a margin. */
  timeoutMs: 11_700_000,
  /** `--max-age` of `recover`: so late, hardly anybody still wants the run that it might start. */
  recoverMaxAgeMs: 3_600_000,
  /**
   * How long the service is assumed to remember an idempotency key. It does not say; comparable services keep one for a
   * day or longer (docs/service.md, Assumptions).
   */
  keyRetentionMs: 86_400_000,
  /** `--rate`: requests a second. */
  rate: 10,
  /** `--max-output`: the largest result that is read. */
  maxOutputBytes: 64 * 1024 * 1024,
  /** `--limit` of `list`. */
  listLimit: 20,
  maxReruns: 1,
  ifActive: 'fail',
} as const;

/** A wait is reported again after this: people think that a log which is silent for long has stopped. */
export const signOfLifeMs = 60_000;

/** And after this, where it has been reported before. */
export const laterSignOfLifeMs = 300_000;
