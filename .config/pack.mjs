// `npm run pack [-- folder]`: packs what `npm run build` has staged, and writes its SHA-256 beside it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = process.argv[2] ?? root;
const staged = join(root, 'package');
const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
  cwd: staged,
  encoding: 'utf8',
}).trim();
const sum = createHash('sha256')
  .update(readFileSync(join(folder, name)))
  .digest('hex');
writeFileSync(join(folder, `${name}.sha256`), `${sum}  ${name}\n`);
console.log(`${name} ${sum}`);
