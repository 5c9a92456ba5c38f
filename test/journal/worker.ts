import { openJournal } from '../../src/journal/journal.ts';
import { accepted, intent } from './records.ts';

// One process of many: `worker <folder> <segmentBytes> <from> <to>` triggers the runs from…to, as fast as it can.
const [folder = '', segmentBytes, from, to] = process.argv.slice(2);
const journal = openJournal({
  folder,
  nowMs: Date.now,
  onTrouble: (message) => process.stderr.write(`${message}\n`),
  segmentBytes: Number(segmentBytes),
});
for (let n = Number(from); n < Number(to); n++) {
  if (journal.append(intent(n))) process.stdout.write(`sent ${n}\n`);
  if (journal.append(accepted(n))) process.stdout.write(`accepted ${n}\n`);
}
