// Everything that names the repository follows from one line of package.json, which whoever publishes adds:
// "repository": "https://github.com/<owner>/<name>"

/** The URL of the repository of a manifest; undefined if it names none. */
export function repositoryOf({ repository }) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  return url?.replace(/^git\+/, '').replace(/(\.git)?\/?$/, '');
}

/** The manifest with what npm shows on the package's page. Unchanged if it names no repository. */
export function withLinks(manifest) {
  const repository = repositoryOf(manifest);
  if (!repository) return manifest;
  return {
    ...manifest,
    repository: { type: 'git', url: `git+${repository}.git` },
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
  };
}

/**
 * Has the relative links and pictures of a page lead to the files of this version in the repository, wherever the page is
 * shown. Without a repository, a link becomes its text.
 */
export function withAbsoluteLinks(markdown, manifest, folder = '') {
  const repository = repositoryOf(manifest);
  return markdown.replace(/(!?)\[([^\]]*)\]\((?!\w+:)([^)]*)\)/g, (_, mark, text, link) => {
    if (!repository) return text;
    const files = `${repository}/${mark ? 'raw' : 'blob'}/v${manifest.version}/`;
    return `${mark}[${text}](${new URL(`${folder}${link}`, files)})`;
  });
}
