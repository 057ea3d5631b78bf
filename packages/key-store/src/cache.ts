/**
 * Branch keys kept in memory for a while, so that most reads need neither the store nor KMS.
 *
 * However many ask for a key at once, it is read once. Nobody ever holds the same buffer as another:
 * each caller gets a copy, and what is wiped is only what the cache itself holds.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { BranchKeyMaterials, BranchKeySource } from './materials.ts'

export interface CacheOptions {
  clock: Clock
  ttlSeconds: number
  /** How many keys are kept at most. */
  capacity: number
}

export interface CachedBranchKeys extends BranchKeySource {
  /** Drops all of a branch key, as after its rotation. */
  forget(branchKeyIdentifier: string): void
  clear(): void
}

interface Kept {
  materials: BranchKeyMaterials
  /** When it was asked for, in milliseconds: what is read later may be as old as that. */
  since: number
}

interface Flight {
  branchKeyIdentifier: string
  materials: Promise<BranchKeyMaterials>
  /** How many have yet to take their copy. The last one wipes what they were made from. */
  waiting: number
}

export function cachedBranchKeys(source: BranchKeySource, options: CacheOptions): CachedBranchKeys {
  const { clock, ttlSeconds, capacity } = checked(options)
  /** The one used longest ago comes first. */
  const kept = new Map<string, Kept>()
  const flights = new Map<string, Flight>()

  function drop(name: string, { materials }: Kept) {
    kept.delete(name)
    materials.branchKey.fill(0)
  }

  /** Not so if the clock was set back: then nothing is known of the age. */
  function isFresh({ since }: Kept): boolean {
    const age = clock.now() - since
    return age >= 0 && age < ttlSeconds * 1000
  }

  function keep(name: string, entry: Kept) {
    for (const [each, old] of kept) if (each === name || !isFresh(old)) drop(each, old)
    for (const [each, old] of kept) if (kept.size >= capacity) drop(each, old)
    kept.set(name, entry)
  }

  function take(name: string): BranchKeyMaterials | undefined {
    const found = kept.get(name)
    if (!found) return undefined
    if (!isFresh(found)) {
      drop(name, found)
      return undefined
    }
    kept.delete(name)
    kept.set(name, found)
    return copyOf(found.materials)
  }

  function start(name: string, branchKeyIdentifier: string, read: Read): Flight {
    const since = clock.now()
    /** False if the key was forgotten meanwhile: what was read may be from before. */
    const land = () => flights.get(name) === flight && flights.delete(name)
    const landing = async () => {
      try {
        const materials = await reading
        if (land()) keep(name, { materials: copyOf(materials), since })
        return materials
      } catch (error) {
        land()
        throw error
      }
    }
    const reading = read()
    const flight = { branchKeyIdentifier, materials: landing(), waiting: 0 }
    flights.set(name, flight)
    return flight
  }

  async function get(name: string, branchKeyIdentifier: string, read: Read) {
    const found = take(name)
    if (found) return found
    const flight = flights.get(name) ?? start(name, branchKeyIdentifier, read)
    flight.waiting++
    const materials = await flight.materials
    const copy = copyOf(materials)
    if (--flight.waiting === 0) materials.branchKey.fill(0)
    return copy
  }

  return {
    getActiveBranchKey: async ({ branchKeyIdentifier: id }) =>
      get(nameOf(id), id, () => source.getActiveBranchKey({ branchKeyIdentifier: id })),

    getBranchKeyVersion: async ({ branchKeyIdentifier: id, branchKeyVersion: version }) =>
      get(nameOf(id, version), id, () =>
        source.getBranchKeyVersion({ branchKeyIdentifier: id, branchKeyVersion: version }),
      ),

    forget(id) {
      for (const [name, flight] of flights)
        if (flight.branchKeyIdentifier === id) flights.delete(name)
      for (const [name, entry] of kept)
        if (entry.materials.branchKeyIdentifier === id) drop(name, entry)
    },

    clear() {
      flights.clear()
      for (const [name, entry] of kept) drop(name, entry)
    },
  }
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

function checked(options: CacheOptions): CacheOptions {
  const { ttlSeconds, capacity } = options
  if (!(Number.isFinite(ttlSeconds) && ttlSeconds > 0))
    throw new RangeError('Cannot cache branch keys: give ttlSeconds above 0')
  if (!(Number.isInteger(capacity) && capacity > 0))
    throw new RangeError('Cannot cache branch keys: give a capacity of at least 1')
  return options
}
