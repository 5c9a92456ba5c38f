// An EventTarget goes through all its listeners whenever one is added, which is slow with thousands of runs on one signal.
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `act` when `signal` aborts. Returns a function that cancels this. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const acts = waiting.get(signal) ?? listen(signal);
  acts.add(act);
  return () => acts.delete(act);
}

function listen(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  waiting.set(signal, acts);
  signal.addEventListener('abort', () => {
    for (const act of [...acts]) act();
  });
  return acts;
}

export const isInterrupted = ({ aborted, reason }: AbortSignal) => aborted && String(reason).startsWith('SIG');
