// As much of WebAssembly as is used here: Node has it, its types do not.
declare namespace WebAssembly {
  type Module = object

  class Memory {
    constructor(pages: { initial: number; maximum: number })
    readonly buffer: ArrayBuffer
  }

  function compile(bytes: Uint8Array): Promise<Module>
  let instantiate: (bytes: Uint8Array, imports: unknown) => Promise<unknown>
}
