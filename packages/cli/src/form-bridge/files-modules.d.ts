// The files of a directory as a JSON array; see scripts/directory-files.mjs.
declare module '*?files' {
  const text: string
  export default text
}
