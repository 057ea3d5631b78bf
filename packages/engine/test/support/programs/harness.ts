// Support for storage tests: a temporary directory, a fixed clock, a small table, and a way to run a
// TypeScript program of this folder in its own process.

import { build } from 'esbuild'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import {
  openStorage,
  type OpenStorage,
  type StorageOptions,
} from '../../../src/storage/open-storage.ts'
import type { NewTable } from '../../../src/storage/storage.ts'

/** 2026-11-15T20:00:00Z */
export const NOW = 1_794_772_800_000

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-storage-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function fixedClock(at = NOW): { now(): number; advance(ms: number): void } {
  let now = at
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}

/** A storage on a new directory, without timers, closed after the test. */
export function temporaryStorage(options: Partial<StorageOptions> = {}): OpenStorage {
  const storage = openStorage({
    directory: join(temporaryDirectory(), 'data'),
    clock: fixedClock(),
    sweepIntervalMs: 0,
    ...options,
  })
  onTestFinished(() => storage.close())
  return storage
}

export const ORDERS: NewTable = {
  name: 'orders',
  keys: { partition: { name: 'customer', type: 'S' }, sort: { name: 'order', type: 'S' } },
  indexes: [
    {
      name: 'by-status',
      kind: 'global',
      keys: { partition: { name: 'status', type: 'S' }, sort: { name: 'total', type: 'N' } },
      projection: { type: 'ALL' },
    },
  ],
}

export const COUNTERS: NewTable = {
  name: 'counters',
  keys: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}

/** Bundles a program of this folder; returns the path of a script that Node can run. */
export async function bundle(name: string): Promise<string> {
  const here = fileURLToPath(new URL('.', import.meta.url))
  // Below this package, so that the script finds the `lmdb` that is not bundled.
  const outfile = join(mkdtempSync(join(here, '.bundle-')), `${name}.mjs`)
  onTestFinished(() => rmSync(join(outfile, '..'), { recursive: true, force: true }))
  await build({
    entryPoints: [join(here, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['lmdb'],
    logLevel: 'error',
  })
  return outfile
}

export interface Program {
  child: ChildProcessWithoutNullStreams
  /** Whole lines printed so far. */
  lines: string[]
  /** Resolves at the first line that satisfies, rejects if the program ends before. */
  line(satisfies: (line: string) => boolean): Promise<string>
  /** Resolves with what it printed to stderr; never rejects. */
  ended: Promise<{ code: number | null; signal: string | null; stderr: string }>
}

export function start(command: string[], options: { cwd?: string } = {}): Program {
  const [file, ...rest] = command as [string, ...string[]]
  const child = spawn(file, rest, options)
  const lines: string[] = []
  const waiting: { satisfies: (line: string) => boolean; resolve: (line: string) => void }[] = []
  let partial = ''
  let stderr = ''
  child.stderr.on('data', (data) => {
    stderr += String(data)
  })
  child.stdout.on('data', (data) => {
    const parts = (partial + String(data)).split('\n')
    partial = parts.pop()!
    for (const line of parts) {
      lines.push(line)
      for (const waiter of waiting) if (waiter.satisfies(line)) waiter.resolve(line)
    }
  })
  const ended = new Promise<Awaited<Program['ended']>>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stderr }))
  })
  return {
    child,
    lines,
    ended,
    line: (satisfies) =>
      new Promise((resolve, reject) => {
        const seen = lines.find((line) => satisfies(line))
        if (seen !== undefined) return resolve(seen)
        waiting.push({ satisfies, resolve })
        void ended.then(({ code, signal, stderr: output }) =>
          reject(new Error(`The program ended (${code ?? signal}): ${output}`)),
        )
      }),
  }
}
