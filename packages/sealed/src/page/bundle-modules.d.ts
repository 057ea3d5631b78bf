// A browser script as text; see scripts/browser-bundle.mjs.
declare module '*?bundle' {
  const text: string
  export default text
}
