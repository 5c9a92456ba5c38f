import { arch, versions as ofNode, platform } from 'node:process';
import { version as undici } from 'undici/package.json';
import { version as runctl } from '../../package.json';
import { defineCommand } from '../cli/define-command.ts';
import { outputOptions } from '../cli/options.ts';
import { report } from '../run/outcome.ts';

/** What a bug report needs to say. */
const versions = { runctl, node: ofNode.node, platform: `${platform}-${arch}`, undici };

export const versionCommand = defineCommand({
  name: 'version',
  about: 'show the version',
  options: outputOptions,
  run: async () => ({ outcomes: [report({ version: versions })], verbatim: versions.runctl }),
});
