/** The fields of a `runctl trigger --json` document that a script needs. */
interface Document {
  runctl: {
    outcome: string;
    next: string | null;
    trigger?: { started: 'yes' | 'no' | 'unknown'; safeToRepeat: boolean };
  };
}

/** Says what to do next, in one sentence. */
export function branch({ runctl: { outcome, next, trigger } }: Document): string {
  if (outcome === 'ok') return 'done';
  if (trigger?.started === 'unknown' && !trigger.safeToRepeat) return `do not repeat: ${next}`;
  if (['already_active', 'rate_limited', 'outcome_unknown'].includes(outcome)) return 'later';
  if (trigger?.started === 'no') return `no run was started: ${outcome}`;
  return `look at the run: ${next}`;
}
