import type { ServiceRequest } from '../../src/emulator/request.ts';
import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import type { Now } from '../../src/emulator/service.ts';
import { createFaultyService } from './faulty-service.ts';
import type { Scenario } from './scenario.ts';

/** The project of the environment that points a program at an emulator. */
export const projectId = '00000000-0000-4000-8000-000000000001';

export interface FaultyOptions extends Partial<Omit<EmulatorOptions, 'service'>> {
  apiKey?: string;
  random?(): number;
}

interface RecordedRequest extends ServiceRequest {
  atMs: number;
  /** 0 if the service was never asked. */
  status: number;
}

export type FaultyEmulator = Awaited<ReturnType<typeof startFaultyEmulator>>;

/** The emulator over HTTP with a service of the test's making, and a record of all requests. */
export async function startFaultyEmulator(scenario: Scenario, options: FaultyOptions = {}) {
  const { apiKey = 'emulator-key', random, nowMs = Date.now, ...others } = options;
  const { respond, runs } = createFaultyService(scenario, apiKey, random);
  const requests: RecordedRequest[] = [];
  const recorded = (request: ServiceRequest, now: Now) => {
    const response = respond(request, now);
    requests.push({ ...request, atMs: now.realMs, status: response.reply.status });
    return response;
  };
  const emulator = await startEmulator({ ...others, service: { respond: recorded, runs }, nowMs });
  return {
    ...emulator,
    apiKey,
    projectId,
    requests: requests as readonly RecordedRequest[],
  };
}
