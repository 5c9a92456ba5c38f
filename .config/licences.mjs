import { readdir, readFile } from 'node:fs/promises';

/** The packages of which something is in the bundle, by the folders that esbuild names: each with its manifest. */
async function bundledPackages(metafile, root) {
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const paths = used.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean);
  const folders = [...new Set(paths)].sort().map((path) => `${root}${path}`);
  return Promise.all(
    folders.map(async (folder) => ({
      folder,
      manifest: JSON.parse(await readFile(`${folder}/package.json`, 'utf8')),
    })),
  );
}

/** The names, versions and licenses of the packages of which something is in the bundle, as a text. */
export async function licencesOf(metafile, root) {
  const packages = await bundledPackages(metafile, root);
  const texts = await Promise.all(packages.map(licenceOf));
  return `The program holds parts of these packages.\n\n${texts.join('\n')}`;
}

async function licenceOf({ folder, manifest: { name, version, license } }) {
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file: find out what may be done with it`);
  const text = await readFile(`${folder}/${file}`, 'utf8');
  return `--- ${name} ${version} (${license})\n\n${text.trim()}\n`;
}
