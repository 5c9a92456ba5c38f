import { openJournal } from '../../src/journal/journal.ts';
import { accepted, triggered } from './records.ts';

// One process of many: `worker <folder> <fileBytes> <from> <to>` triggers the runs from…to, as fast as it can.
const [folder = '', fileBytes, from, to] = process.argv.slice(2);
const journal = openJournal({
  folder,
  nowMs: Date.now,
  onFailure: (message) => process.stderr.write(`${message}\n`),
  fileBytes: Number(fileBytes),
});
for (let n = Number(from); n < Number(to); n++) {
  if (journal.append(triggered(n))) process.stdout.write(`sent ${n}\n`);
  if (journal.append(accepted(n))) process.stdout.write(`accepted ${n}\n`);
}
