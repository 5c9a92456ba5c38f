import { usageProblem } from '../problems/problem.ts';
import { type SettingKey, settingKeys } from './setting-table.ts';

/** A key as `runctl config` takes it. Throws a usage problem with the nearest one. */
export function parseSettingKey(text: string): SettingKey {
  const key = settingKeys.find((candidate) => candidate === text);
  if (key) return key;
  const nearest = nearestKey(text);
  throw usageProblem(
    `there is no setting ${JSON.stringify(text)}`,
    `${nearest ? `did you mean \`${nearest}\`? ` : ''}there are ${settingKeys.join(', ')}`,
  );
}

const mostEdits = 3;

/** Blind to case and dashes: `base-url` and `RUNCTL_BASE_URL` mean `baseUrl`. */
function nearestKey(text: string): SettingKey | undefined {
  const plain = text
    .replace(/^(?:--|RUNCTL_)/, '')
    .replace(/[-_]/g, '')
    .slice(0, 40)
    .toLowerCase();
  const [nearest] = settingKeys
    .map((key) => ({ key, edits: editDistance(plain, key.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= mostEdits ? nearest.key : undefined;
}

/** Levenshtein's distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
