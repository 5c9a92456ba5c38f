import type { Service } from '../run/service.ts';
import type { JsonObject } from '../system/json.ts';
import { resultPath, statusPath, targetPath, triggerPath } from './endpoints.ts';
import { createRequester, type HttpOptions } from './http-request.ts';
import { ofRun, parseResult, parseStarted, parseStatus } from './parse-document.ts';

/**
 * The service over HTTP. A request that fails returns a fault. Throws only what reading the API key
 * throws.
 */
export function createHttpService(options: HttpOptions): Service {
  const request = createRequester(options);
  return {
    trigger({ target, body, idempotencyKey }, signal, options) {
      const spec = {
        endpoint: 'trigger',
        targetPath: targetPath(target),
        path: triggerPath(target),
        payload: { body, idempotencyKey },
        read: parseStarted,
      } as const;
      return request(spec, signal, options);
    },
    status(run, signal, options) {
      const spec = {
        endpoint: 'status',
        targetPath: targetPath(run.target),
        path: statusPath(run),
        read: (document: JsonObject) => ofRun(run, parseStatus(document)),
      } as const;
      return request(spec, signal, options);
    },
    result(run, signal, options) {
      const spec = {
        endpoint: 'result',
        targetPath: targetPath(run.target),
        path: resultPath(run),
        read(document: JsonObject) {
          const result = parseResult(document);
          // While a run is in progress, only the status is meaningful.
          return ofRun(run, result, { mayLackId: result?.isFinal === false });
        },
      } as const;
      return request(spec, signal, options);
    },
  };
}
