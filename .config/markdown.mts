/** Has the sources that are tested import Markdown as text, as the build does. */
export const markdown = {
  name: 'markdown',
  transform: (text: string, path: string) =>
    path.endsWith('.md') ? `export default ${JSON.stringify(text)}` : undefined,
};
