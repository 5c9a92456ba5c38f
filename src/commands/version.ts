import { defineCommand } from '../cli/define-command.ts';
import { outputOptions } from '../cli/options.ts';
import { documentOf } from '../render/document.ts';
import { versions } from '../versions.ts';

export const versionCommand = defineCommand({
  name: 'version',
  about: 'show the version',
  options: outputOptions,
  run: async (_, __, context) => ({
    documents: [documentOf({ report: { version: versions } }, context)],
    verbatim: versions.runctl,
  }),
});
