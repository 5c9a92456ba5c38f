import { argument, defineCommand } from '../cli/define-command.ts';

export const schema = defineCommand({
  name: 'schema',
  about: 'print the JSON Schemas of `--json` and `--events`',
  arguments: { name: argument('[name]', 'document or event (default: all)') },
  examples: [['runctl schema event > event.schema.json', 'the schema of one line of --events']],
  async run({ name }) {
    const { schemas } = await import('../render/schemas.ts');
    const { usageProblem } = await import('../problems/problem.ts');
    const shown = name === undefined ? schemas : Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (!shown) throw usageProblem(`there is no schema "${name}"`, `it is one of ${Object.keys(schemas).join(', ')}`);
    return { verbatim: JSON.stringify(shown, null, 2) };
  },
});
