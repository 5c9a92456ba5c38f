/** What the changelog says of a version, below its heading, which may have a date; undefined if there is no such heading. */
export function sectionOf(changelog, version) {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((each) => each.split(/[\s]/, 1)[0] === version);
  return section?.replace(/^.*\n/, '').trim();
}
