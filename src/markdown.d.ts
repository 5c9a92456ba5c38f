/** The build and the tests load a page of docs/ as its text. */
declare module '*.md' {
  const text: string;
  export default text;
}
