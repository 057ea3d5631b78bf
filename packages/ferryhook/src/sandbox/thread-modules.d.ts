// The code of a worker thread, as text: see scripts/thread-bundle.mjs.
declare module '*?thread' {
  const code: string
  export default code
}
