// `node .config/release-notes.mjs`: prints what the changelog says of this version, with links that work on the release's page.
import { readFileSync } from 'node:fs';
import { withAbsoluteLinks } from './repository.mjs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const [, ...sections] = readFileSync('docs/CHANGELOG.md', 'utf8').split(/^## /m);
// The heading may have a date.
const section = sections.find((each) => each.split(/\s/, 1)[0] === manifest.version);
const text = section?.replace(/^.*\n/, '').trim();
if (!text) throw new Error(`docs/CHANGELOG.md says nothing about ${manifest.version}`);
console.log(withAbsoluteLinks(text, manifest, 'docs/'));
