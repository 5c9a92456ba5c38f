import type { Journal } from '../journal/journal.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Service } from '../runs/service.ts';
import type { ApiKeys } from './api-keys.ts';

type AnswerListener = (answer: Answer<unknown>, run?: Run) => Promise<void> | void;

/** The service, each of whose answers `onAnswer` gets before whoever asked; of a poll it gets the run, too. */
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

/** The service, which has the API key renewed after a 401 that follows a valid answer. */
export function withRenewal(service: Service, apiKeys: Pick<ApiKeys, 'renew'>): Service {
  let hasAnswered = false;
  return withAnswerListener(service, (answer) => {
    if (answer.kind === 'ok') hasAnswered = true;
    else if (hasAnswered && answer.fault.httpStatus === 401) apiKeys.renew();
  });
}

/** The service, with every run that it does not know reported to the journal, whoever asked for it. */
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
