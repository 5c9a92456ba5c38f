// An EventTarget walks through all its listeners at every addition, which thousands of runs on one signal would feel.
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `act` when `signal` aborts; the function that it returns takes that back. */
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
