/**
 * Caches branch keys in memory, so that most reads need neither the store nor KMS.
 *
 * Concurrent requests for a key share one read. Each caller gets a copy of its own. The cache wipes only
 * its own buffer, after the last waiting caller has taken a copy.
 */
import { type Clock, isRecent, systemClock } from '@strongroom/platform/clock'
import type { BranchKeyMaterials, BranchKeySource } from './store/key-store.ts'

export interface CacheOptions {
  clock?: Clock
  ttlSeconds: number
  /** The maximum number of cached keys. */
  capacity: number
}

export interface CachedBranchKeys extends BranchKeySource {
  /** Drops all versions of a branch key, for example after a rotation. */
  forget(branchKeyIdentifier: string): void
  clear(): void
}

/** A key that is being read or has been read. Its buffer belongs to the cache until its last reader is done. */
interface Entry {
  branchKeyIdentifier: string
  /** The time of the request in milliseconds, because the result may be that old. */
  since: number
  reading: Promise<BranchKeyMaterials>
  /** Undefined while it is being read. */
  materials: BranchKeyMaterials | undefined
  /** The number of callers that have not taken their copy yet. */
  waiting: number
  dropped: boolean
}

export function cachedBranchKeys(source: BranchKeySource, options: CacheOptions): CachedBranchKeys {
  const { clock = systemClock, ttlSeconds, capacity } = validateOptions(options)
  /** The least recently used key is first. */
  const entries = new Map<string, Entry>()

  function isFresh({ since }: Entry): boolean {
    return isRecent(clock, since, ttlSeconds * 1000)
  }

  function drop(name: string, entry: Entry) {
    if (entries.get(name) === entry) entries.delete(name)
    entry.dropped = true
    wipeIfUnused(entry)
  }

  function makeRoom() {
    for (const [name, entry] of entries) {
      const isTooMuch = entries.size > capacity && entry.materials !== undefined
      if (isTooMuch || !isFresh(entry)) drop(name, entry)
    }
  }

  function start(name: string, branchKeyIdentifier: string, read: Read): Entry {
    const entry: Entry = {
      branchKeyIdentifier,
      since: clock.now(),
      reading: load(),
      materials: undefined,
      waiting: 0,
      dropped: false,
    }
    return entry

    async function load() {
      try {
        const materials = await read()
        entry.materials = materials
        makeRoom()
        return materials
      } catch (error) {
        drop(name, entry)
        throw error
      }
    }
  }

  async function get(name: string, branchKeyIdentifier: string, read: Read) {
    const found = entries.get(name)
    if (found && !isFresh(found)) drop(name, found)
    const entry = entries.get(name) ?? start(name, branchKeyIdentifier, read)
    entries.delete(name)
    entries.set(name, entry)
    entry.waiting++
    try {
      return copyOf(await entry.reading)
    } finally {
      entry.waiting--
      wipeIfUnused(entry)
    }
  }

  function dropAll(isMeant: (entry: Entry) => boolean) {
    for (const [name, entry] of entries) if (isMeant(entry)) drop(name, entry)
  }

  return {
    getActiveBranchKey: ({ branchKeyIdentifier: id }) =>
      get(nameOf(id), id, async () => source.getActiveBranchKey({ branchKeyIdentifier: id })),

    getBranchKeyVersion: ({ branchKeyIdentifier: id, branchKeyVersion: version }) =>
      get(nameOf(id, version), id, async () =>
        source.getBranchKeyVersion({ branchKeyIdentifier: id, branchKeyVersion: version }),
      ),

    // A running read is dropped, too, because its result may be stale.
    forget: (id) => dropAll((entry) => entry.branchKeyIdentifier === id),
    clear: () => dropAll(() => true),
  }
}

function wipeIfUnused({ dropped, waiting, materials }: Entry) {
  if (dropped && waiting === 0) materials?.branchKey.fill(0)
}

type Read = () => Promise<BranchKeyMaterials>

function nameOf(...parts: string[]): string {
  return JSON.stringify(parts)
}

function copyOf({ branchKey, encryptionContext, ...rest }: BranchKeyMaterials): BranchKeyMaterials {
  return {
    ...rest,
    branchKey: Uint8Array.from(branchKey),
    encryptionContext: { ...encryptionContext },
  }
}

function validateOptions(options: CacheOptions): CacheOptions {
  const { ttlSeconds, capacity } = options
  if (!(Number.isFinite(ttlSeconds) && ttlSeconds > 0))
    throw new RangeError('Cannot cache branch keys: give ttlSeconds above 0')
  if (!(Number.isInteger(capacity) && capacity > 0))
    throw new RangeError('Cannot cache branch keys: give a capacity of at least 1')
  return options
}
