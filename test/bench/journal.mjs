import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dayMs = 86_400_000;
const maxFileBytes = 256 * 1024;
const automations = 50;

export const uuidOf = (kind, number) =>
  `${kind}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/**
 * Writes the journal of a year with this many runs, all COMPLETED, into a state folder. The oldest
 * is of `old-name`, the others of `job-0` to `job-49`.
 */
export function writeJournal(stateDir, { runs, baseUrl, projectId }) {
  const folder = join(stateDir, 'journal');
  mkdirSync(folder, { recursive: true });
  let files = 0;
  let text = '';
  const writeFile = () => {
    files += 1;
    const name = `${String(files).padStart(8, '0')}.jsonl`;
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    text = '';
  };
  const startMs = Date.now() - 365 * dayMs;
  for (let number = 0; number < runs; number++) {
    const sentMs = Math.round(startMs + ((number + 1) * 364 * dayMs) / runs);
    const name = number === 0 && runs > 1 ? 'old-name' : `job-${number % automations}`;
    for (const record of recordsOf(number, sentMs)) {
      text += `\n${JSON.stringify({ ...record, baseUrl, projectId, name })}\n`;
    }
    if (text.length > maxFileBytes) writeFile();
  }
  writeFile();
}

function recordsOf(number, sentMs) {
  const key = uuidOf(2, number);
  const executionId = uuidOf(3, number);
  const completedAtMs = sentMs + 60_000 + ((number * 7919) % 600_000);
  const sent = {
    isKeyGiven: false,
    repeats: false,
    apiKeyHash: 'c0ffeec0ffee',
    areKeysIgnored: false,
  };
  const status = { status: 'COMPLETED', isFinal: true, startedAtMs: sentMs, completedAtMs };
  return [
    { type: 'sent', id: uuidOf(4, number), key, ...sent, atMs: sentMs },
    { type: 'accepted', key, executionId, atMs: sentMs + 300 },
    { type: 'status', executionId, ...status, creditsCharged: 12, atMs: completedAtMs },
  ];
}
