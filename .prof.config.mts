import base from './vitest.config.mts';
const p = (base as any).test.projects;
for (const q of p) q.test.setupFiles = ['test/helpers/property-runs.ts', '/tmp/e2eprof/setup.ts'];
export default base;
