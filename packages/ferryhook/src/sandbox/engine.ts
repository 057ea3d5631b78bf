/**
 * QuickJS, a JavaScript engine compiled to WebAssembly. Code in it can reach only what is passed in,
 * and only its own memory.
 */
import variant from '@jitl/quickjs-singlefile-mjs-release-sync'
import { LRUCache } from 'lru-cache'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'

/**
 * In pages of 64 KB; QuickJS requires the initial size. The engine's own memory limit counts
 * allocations rather than bytes and would let a script use 2 GB.
 */
const memoryPages = { initial: 256, maximum: 512 }

export type EngineFactory = () => Promise<Engine>

export interface Engine extends Pick<QuickJSWASMModule, 'newRuntime'> {
  /** Whether its memory has grown beyond the initial size. */
  isLarge(): boolean
}

export async function loadEngineFactory(): Promise<EngineFactory> {
  const wasmModule = await compileModule()
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

/** The package embeds its WebAssembly and passes it only to `instantiate`, so intercept that call. */
async function compileModule(): Promise<WebAssembly.Module> {
  const { instantiate } = WebAssembly
  let bytes: Uint8Array | undefined
  WebAssembly.instantiate = (source, imports) => {
    bytes = source
    return instantiate(source, imports)
  }
  try {
    await newQuickJSWASMModuleFromVariant(variant)
  } finally {
    WebAssembly.instantiate = instantiate
  }
  if (!bytes) throw new Error('QuickJS did not load its WebAssembly through instantiate')
  return WebAssembly.compile(bytes)
}

/**
 * Caches the engines of a thread by owner. Scripts of different owners never run in the same memory,
 * so nothing that one leaves behind, even by a bug of the engine, can reach another. Scripts of one
 * owner reuse an engine, because creating one takes longer than most scripts.
 */
export interface EnginePool {
  /** An engine for exclusive use until it is released. */
  acquire(owner: string): Promise<Engine>
  /** Only for an engine that ran without failure and is empty. */
  release(owner: string, engine: Engine): void
}

const MAX_CACHED_ENGINES = 4

export function createEnginePool(newEngine: EngineFactory): EnginePool {
  const idle = new LRUCache<string, Engine>({ max: MAX_CACHED_ENGINES })
  return {
    async acquire(owner) {
      const engine = idle.get(owner)
      idle.delete(owner)
      return engine ?? newEngine()
    },

    release(owner, engine) {
      idle.set(owner, engine)
    },
  }
}
