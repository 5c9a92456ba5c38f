import { shellWord } from '../problems/quote.ts';
import { ownWordsOf } from './own-words.ts';

const flags = ['--profile', '--base-url', '--project', '-p'];

/** The flags of a command line that say where the service and the project are, as another command line would give them. */
export function placeFlagsOf(argv: readonly string[]): string {
  const own = ownWordsOf(argv);
  return own
    .flatMap((word, index) => {
      const [flag = '', value = own[index + 1]] = /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word];
      return flags.includes(flag) && value !== undefined ? [` ${flag} ${shellWord(value)}`] : [];
    })
    .join('');
}
