// A browser application as a JSON array of files; see scripts/browser-bundle.mjs.
declare module '*?site' {
  const text: string
  export default text
}
