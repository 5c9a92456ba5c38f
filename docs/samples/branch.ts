/** What a script needs of a document of `runctl trigger --json`. */
interface Document {
  runctl: { outcome: string; next: string | null; trigger?: { started: 'yes' | 'no' | 'unknown' } };
}

/** What to do next, in one sentence. */
export function branch({ runctl: { outcome, next, trigger } }: Document): string {
  if (outcome === 'ok') return 'done';
  if (trigger?.started === 'unknown') return `do not repeat: ${next}`;
  if (outcome === 'already_active' || outcome === 'rate_limited') return 'later';
  if (trigger?.started === 'no') return `no run was started: ${outcome}`;
  return `look at the run: ${next}`;
}
