/**
 * QuickJS, a JavaScript engine compiled to WebAssembly: code in it has no way out but what is handed
 * in, and no memory but its own.
 */
import variant from '@jitl/quickjs-singlefile-mjs-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'

/**
 * In pages of 64 KB; the least is what the engine asks for. The engine's own limit counts the number
 * of allocations rather than their bytes, and lets a script have 2 GB.
 */
const memoryPages = { initial: 256, maximum: 512 }

export type NewEngine = () => Promise<Engine>

export interface Engine extends Pick<QuickJSWASMModule, 'newRuntime'> {
  /** Whether it has asked for more memory than it began with. */
  isLarge(): boolean
}

export async function loadQuickJs(): Promise<NewEngine> {
  const wasmModule = await compiled()
  return async () => {
    const wasmMemory = new WebAssembly.Memory(memoryPages)
    const engine = await newQuickJSWASMModuleFromVariant(
      newVariant(variant, { wasmModule, wasmMemory }),
    )
    return {
      newRuntime: () => engine.newRuntime(),
      isLarge: () => wasmMemory.buffer.byteLength > memoryPages.initial * 65_536,
    }
  }
}

/** The package has its WebAssembly inside, and gives it to nobody but the function that compiles it. */
async function compiled(): Promise<WebAssembly.Module> {
  const { instantiate } = WebAssembly
  let bytes: Uint8Array | undefined
  WebAssembly.instantiate = (given, imports) => {
    bytes = given
    return instantiate(given, imports)
  }
  try {
    await newQuickJSWASMModuleFromVariant(variant)
  } finally {
    WebAssembly.instantiate = instantiate
  }
  if (!bytes) throw new Error('QuickJS was loaded in a way that this code does not know')
  return WebAssembly.compile(bytes)
}
