import { arch, versions as ofNode, platform } from 'node:process';
import { version as undici } from 'undici/package.json';
import { version as runctl } from '../package.json';

/** What a bug report needs to say. */
export const versions = { runctl, node: ofNode.node, platform: `${platform}-${arch}`, undici };
