import { version } from '../../package.json';
import { defineCommand } from '../cli/define-command.ts';

export const versionCommand = defineCommand({
  name: 'version',
  about: 'show the version',
  run: async () => ({ data: version }),
});
