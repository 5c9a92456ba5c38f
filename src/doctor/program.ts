import { arch, version as node, platform } from 'node:process';
import { version } from '../../package.json';
import { type Finding, ok } from './finding.ts';

export function* checkProgram(): Generator<Finding> {
  yield ok('program', `runctl ${version} in ${import.meta.dirname}, Node ${node} on ${platform}-${arch}`);
}
