import { readdir, readFile } from 'node:fs/promises';

/** The names, versions and licenses of the packages of which something is in the bundle, as a text. */
export async function collectLicences(metafile, root) {
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = used.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean);
  const texts = await Promise.all([...new Set(folders)].sort().map((folder) => licenceOf(`${root}${folder}`)));
  return `The program holds parts of these packages.\n\n${texts.join('\n')}`;
}

async function licenceOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file: find out what may be done with it`);
  const text = await readFile(`${folder}/${file}`, 'utf8');
  return `--- ${name} ${version} (${license})\n\n${text.trim()}\n`;
}
