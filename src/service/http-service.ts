import type { Service } from '../run/service.ts';
import type { JsonObject } from '../system/json.ts';
import { resultPath, statusPath, targetPath, triggerPath } from './endpoints.ts';
import { createRequester, type HttpOptions } from './http-request.ts';
import { ofRun, readResult, readStarted, readStatus } from './read-document.ts';

/** The service over HTTP. Everything that goes wrong becomes a fault, and is never thrown. */
export function createHttpService(options: HttpOptions): Service {
  const request = createRequester(options);
  return {
    trigger({ target, ...send }, signal, options) {
      const path = triggerPath(target);
      return request(
        { endpoint: 'trigger', target: targetPath(target), path, send, read: readStarted },
        signal,
        options,
      );
    },
    status(run, signal, options) {
      const spec = {
        endpoint: 'status',
        target: targetPath(run.target),
        path: statusPath(run),
      } as const;
      return request(
        { ...spec, read: (document) => ofRun(run, readStatus(document)) },
        signal,
        options,
      );
    },
    result(run, signal, options) {
      const spec = {
        endpoint: 'result',
        target: targetPath(run.target),
        path: resultPath(run),
      } as const;
      const read = (document: JsonObject) => {
        const result = readResult(document);
        // While a run is in progress, only the status is meaningful.
        return ofRun(run, result, result && !result.isFinal);
      };
      return request({ ...spec, read }, signal, options);
    },
  };
}
