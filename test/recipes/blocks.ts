import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fenced block of the README or of a page of `docs`. */
export interface Block {
  language: string;
  /** The nearest heading above it, or the nearest words in bold that begin a paragraph. */
  heading: string;
  /** Where it begins: the file and the line. */
  place: string;
  text: string;
}

const root = join(import.meta.dirname, '../..');
const pages = {
  /** Their scripts are run. */
  run: ['README.md', 'docs/recipes.md'],
  all: [
    'README.md',
    ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
  ],
};

export const readBlocks = (which: keyof typeof pages): Block[] => pages[which].flatMap(blocksIn);

function blocksIn(page: string): Block[] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const blocks: Block[] = [];
  let open: Block | undefined;
  let heading = '';
  for (const [index, line] of lines.entries()) {
    const [, language] = /^```(.*)$/.exec(line) ?? [];
    if (open && language === '') {
      blocks.push(open);
      open = undefined;
    } else if (open) open.text += `${line}\n`;
    else if (language !== undefined) open = { language, heading, place: `${page}:${index + 1}`, text: '' };
    else heading = /^(?:#+ |\*\*)(.*?)(?:\.?\*\*.*)?$/.exec(line)?.[1] ?? heading;
  }
  return blocks;
}

/** The blocks in a language under a heading. */
export const blocksOf = (heading: string, language: string): string[] =>
  readBlocks('run').flatMap((block) => (block.heading === heading && block.language === language ? block.text : []));

/** The only one of them, or the only one that begins with some words. */
export function blockOf(heading: string, language: string, beginning = ''): string {
  const [found, ...others] = blocksOf(heading, language).filter((text) => text.startsWith(beginning));
  if (found === undefined || others.length > 0) throw new Error(`no block of ${language} under ${heading}, or several`);
  return found;
}
