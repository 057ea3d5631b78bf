// Loads the `lmdb` package when a data directory is first opened: a program that only imports the engine
// can then report a missing or unsuitable native binary, as can a server that stores its data elsewhere.

import { createRequire } from 'node:module'
import type * as Lmdb from 'lmdb'
import { DataError } from './failures.ts'

export interface NativeEnvironment {
  path: string
  close(): void
}

/** A transaction that this process keeps to itself. */
export interface NativeTransaction {
  address: number
  abort(): void
}

type LmdbPackage = typeof Lmdb & {
  /** Private, so the version of the package is pinned. */
  readonly nativeAddon: {
    readonly Env: { prototype: NativeEnvironment }
    readonly Txn: new (environment: object, flags: number) => NativeTransaction
    resetTxn(address: number): void
  }
}

let loaded: LmdbPackage | undefined

/** Throws a `DataError` that says how to get the binary of this machine. */
export function loadLmdb(): LmdbPackage {
  loaded ??= requireLmdb()
  return loaded
}

function requireLmdb(): LmdbPackage {
  try {
    return createRequire(import.meta.url)('lmdb') as LmdbPackage
  } catch (cause) {
    const { platform, arch, versions } = process
    throw new DataError(
      `Cannot load the native library "lmdb" for ${platform}-${arch} on Node ${versions.node} (${reasonOf(cause)}). ` +
        'Remove node_modules and install again on this machine, without --omit=optional; ' +
        'node_modules copied from another platform does not work',
      { cause },
    )
  }
}

/** The first line, because the rest lists the files that were tried. */
function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line
}
