// The cache of filled data directories, so that a million events are written only once.

import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { FORMAT_VERSION } from '@strongroom/engine/storage/lmdb/format'
import { retentionSeconds } from '@strongroom/ferryhook/plans'
import { STORE_VERSION } from '@strongroom/server/store-version/store-version'
import { fill } from './fill.ts'

interface Marker {
  events: number
  storeVersion: number
  engineFormat: number
  /** Of the whole directory, less that of an empty one. */
  bytes: number
  /** Milliseconds since the epoch. */
  filledAt: number
}

export interface Filled {
  directory: string
  events: number
  /** On disk, for each event. */
  bytesPerEvent: number
}

const MARKER = 'filled.json'
/** What a fill and a copy of it need, generously. */
const MAX_BYTES_PER_EVENT = 30_000
const PROGRESS_MS = 5_000

/** A directory with that many delivered events, which is filled unless it exists. To be copied, not used. */
export async function filledDirectory(events: number): Promise<Filled> {
  const root = join(cacheDirectory(), `events-${events}`)
  const directory = join(root, 'data')
  const found = readMarker(join(root, MARKER))
  if (found !== undefined && isUsable(found, events)) return filledOf(directory, found)
  const partial = `${root}.partial`
  for (const old of [root, partial]) rmSync(old, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  requireSpace(partial, events)
  await fill(join(partial, 'data'), events, progress(events))
  const bytes = directorySize(join(partial, 'data'))
  const marker: Marker = {
    events,
    storeVersion: STORE_VERSION,
    engineFormat: FORMAT_VERSION,
    bytes,
    filledAt: Date.now(),
  }
  writeFileSync(join(partial, MARKER), JSON.stringify(marker))
  renameSync(partial, root)
  return filledOf(directory, marker)
}

function cacheDirectory(): string {
  const own = process.env['BENCH_CACHE']
  if (own !== undefined) return own
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  return join(caches, 'strongroom', 'bench')
}

function readMarker(file: string): Marker | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Marker
  } catch {
    return undefined
  }
}

/** Of the current formats, and with events that do not expire soon. */
function isUsable(marker: Marker, events: number): boolean {
  const halfRetentionMs = (1000 * retentionSeconds.team) / 2
  return (
    marker.events === events &&
    marker.storeVersion === STORE_VERSION &&
    marker.engineFormat === FORMAT_VERSION &&
    Date.now() - marker.filledAt < halfRetentionMs
  )
}

function filledOf(directory: string, { events, bytes }: Marker): Filled {
  return { directory, events, bytesPerEvent: bytes / events }
}

function requireSpace(directory: string, events: number): void {
  const { bavail, bsize } = statfsSync(directory)
  const needed = 2 * events * MAX_BYTES_PER_EVENT
  if (bavail * bsize >= needed) return
  throw new Error(
    `Filling a store with ${events.toLocaleString('en')} events needs ${(needed / 1e9).toFixed(0)} GB of disk: free some, set BENCH_CACHE to another disk, or use --events with a smaller number`,
  )
}

function directorySize(directory: string): number {
  let bytes = 0
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    // Blocks, because the file of the store may have holes.
    if (entry.isFile()) bytes += 512 * statSync(join(entry.parentPath, entry.name)).blocks
  }
  return bytes
}

function progress(events: number): (stored: number) => void {
  const start = performance.now()
  let printed = start
  return (stored) => {
    const now = performance.now()
    if (now - printed < PROGRESS_MS) return
    printed = now
    const rate = (1000 * stored) / (now - start)
    const left = (events - stored) / rate
    process.stderr.write(
      `filling: ${stored.toLocaleString('en')} of ${events.toLocaleString('en')} events, ${rate.toFixed(0)}/s, ${left.toFixed(0)} s left\n`,
    )
  }
}
