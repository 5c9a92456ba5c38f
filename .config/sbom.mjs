/**
 * What the program is made of, in CycloneDX 1.6: the packages are bundled, so that no other tool finds them in an installation.
 * There is no serial number and no time in it, so that two builds of one source are the same.
 */
export function billOfMaterials(program, packages) {
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: componentOf('application', program) },
    components: packages.map(({ manifest }) => componentOf('library', manifest)),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function componentOf(type, { name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const isExpression = license.includes(' ');
  const licenses = [isExpression ? { expression: license } : { license: { id: license } }];
  return { type, 'bom-ref': purl, name, version, licenses, purl };
}
