import type { Journal } from '../journal/journal.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Service } from '../runs/service.ts';

/** The service. Reports every run that it doesn't know to the journal, whoever asked for it. */
export function withNotFoundTracking(
  service: Service,
  journal: Pick<Journal, 'markNotFound'>,
  baseUrl: string,
  account: () => Promise<string>,
): Service {
  const track = async <T>(run: Run, asking: Promise<Answer<T>>): Promise<Answer<T>> => {
    const answer = await asking;
    const isUnknown = answer.kind === 'fault' && answer.fault.kind === 'not_found';
    if (isUnknown) journal.markNotFound(baseUrl, run, await account());
    return answer;
  };
  return {
    trigger: service.trigger,
    status: (run, ...rest) => track(run, service.status(run, ...rest)),
    result: (run, ...rest) => track(run, service.result(run, ...rest)),
  };
}
