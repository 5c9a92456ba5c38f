import type { Journal } from '../journal/journal.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Service } from '../runs/service.ts';
import type { ApiKeys } from './api-keys.ts';

type AnswerListener = (answer: Answer<unknown>, run?: Run) => Promise<void> | void;

/** The service. `onAnswer` gets each response before the caller does, and for polls also the run. */
function withAnswerListener(service: Service, onAnswer: AnswerListener): Service {
  const pass = async <T>(asking: Promise<Answer<T>>, run?: Run): Promise<Answer<T>> => {
    const answer = await asking;
    await onAnswer(answer, run);
    return answer;
  };
  return {
    trigger: (...request) => pass(service.trigger(...request)),
    status: (run, ...rest) => pass(service.status(run, ...rest), run),
    result: (run, ...rest) => pass(service.result(run, ...rest), run),
  };
}

/** The service. Renews the API key after a 401 that follows a valid response. */
export function withRenewal(service: Service, apiKeys: Pick<ApiKeys, 'renew'>): Service {
  let hasAnswered = false;
  return withAnswerListener(service, (answer) => {
    if (answer.kind === 'ok') hasAnswered = true;
    else if (hasAnswered && answer.fault.httpStatus === 401) apiKeys.renew();
  });
}

/** The service. Reports every run that it doesn't know to the journal, whoever asked for it. */
export function withNotFoundTracking(
  service: Service,
  journal: Pick<Journal, 'markNotFound'>,
  baseUrl: string,
  account: () => Promise<string>,
): Service {
  return withAnswerListener(service, async (answer, run) => {
    const isUnknown = answer.kind === 'fault' && answer.fault.kind === 'not_found';
    if (run && isUnknown) journal.markNotFound(baseUrl, run, await account());
  });
}
