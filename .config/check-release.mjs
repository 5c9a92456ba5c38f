// `node .config/check-release.mjs <tag> <URL of the repository>`: refuses a release that would be wrong about itself.
import { readFileSync } from 'node:fs';
import { sectionOf } from './changelog.mjs';
import { repositoryOf } from './repository.mjs';

const [tag, home] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = manifest;
const repository = repositoryOf(manifest);

const problems = [
  tag !== `v${version}` &&
    `The tag is ${tag}, but package.json has the version ${version}. Delete the tag, and push v${version} or change package.json first.`,
  !sectionOf(readFileSync('docs/CHANGELOG.md', 'utf8'), version) &&
    `docs/CHANGELOG.md says nothing about ${version}. Add "## ${version}" and what changed.`,
  !repository &&
    `package.json doesn't name the repository, so npm can't prove where the package is from. Run: npm pkg set repository=${home}`,
  repository &&
    repository !== home &&
    `package.json names the repository ${repository}, but this is ${home}. Run: npm pkg set repository=${home}`,
].filter(Boolean);

for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('Nothing was published. Commit the change, then move the tag: see docs/CONTRIBUTING.md, Releasing.');
  process.exitCode = 1;
}
