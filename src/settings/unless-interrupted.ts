import { exitNameOfSignal } from '../run/exit-codes.ts';
import { interruptedProblem } from '../run/problem.ts';
import { onAbort } from '../system/clock.ts';

/** Returns the result of `work`. Throws the interrupted problem as soon as `signal` aborts. */
export async function unlessInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let forget = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(interruptedProblem(exitNameOfSignal(signal)));
    if (signal.aborted) stop();
    else forget = onAbort(signal, stop);
  });
  return Promise.race([work, interrupted]).finally(forget);
}
