import { arch, versions as ofNode, platform } from 'node:process';
import { Command } from 'commander';
import { version as undici } from 'undici/package.json';
import { version as runctl } from '../../package.json';
import { define } from '../cli/command.ts';
import { infoOutcome } from '../run/outcome.ts';

/** What a bug report needs to say. */
const versions = { runctl, node: ofNode.node, platform: `${platform}-${arch}`, undici };

export const versionCommand = define(new Command('version').description('show the version'), {
  ignoresUnknownVariables: true,
  run: async () => ({
    outcomes: [infoOutcome({ version: versions })],
    forPeople: { raw: versions.runctl },
  }),
});
