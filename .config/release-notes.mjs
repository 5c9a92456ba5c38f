// `node .config/release-notes.mjs`: prints what the changelog says of this version, with links that work on the release's page.
import { readFileSync } from 'node:fs';
import { sectionOf } from './changelog.mjs';
import { withAbsoluteLinks } from './repository.mjs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const section = sectionOf(readFileSync('docs/CHANGELOG.md', 'utf8'), manifest.version);
if (!section) throw new Error(`docs/CHANGELOG.md says nothing about ${manifest.version}`);
console.log(withAbsoluteLinks(section, manifest, 'docs/'));
