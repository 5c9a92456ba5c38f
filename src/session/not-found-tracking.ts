import type { Journal } from '../journal/journal.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Service } from '../runs/service.ts';

/** The service, with every run that it does not know reported to the journal, whoever asked for it. */
export function withNotFoundTracking(
  service: Service,
  journal: Pick<Journal, 'markNotFound'>,
  baseUrl: string,
  account: () => Promise<string>,
): Service {
  const remember =
    (run: Run) =>
    async <T>(answer: Answer<T>): Promise<Answer<T>> => {
      const isUnknown = answer.kind === 'fault' && answer.fault.kind === 'not_found';
      if (isUnknown) journal.markNotFound(baseUrl, run, await account());
      return answer;
    };
  return {
    trigger: service.trigger,
    status: (run, signal, limits) => service.status(run, signal, limits).then(remember(run)),
    result: (run, signal, limits) => service.result(run, signal, limits).then(remember(run)),
  };
}
