// The code of a worker thread, as text: see scripts/thread-bundle.mjs.
declare module '*?thread' {
  const code: string
  export default code
}
// The part of WebAssembly in use here: Node's types do not declare it.
declare namespace WebAssembly {
  type Module = object

  class Memory {
    constructor(pages: { initial: number; maximum: number })
    readonly buffer: ArrayBuffer
  }

  function compile(bytes: Uint8Array): Promise<Module>
  let instantiate: (bytes: Uint8Array, imports: unknown) => Promise<unknown>
}
