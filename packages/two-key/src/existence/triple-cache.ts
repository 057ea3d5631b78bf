/**
 * Triples that were verified in the last five minutes: in memory, and behind that in the table that
 * all machines share. A table that is slow or fails counts as a miss.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type Clock, epochSeconds, isRecent } from '@strongroom/platform/clock'
import type { Deadline } from '@strongroom/kit/deadline'
import { LRUCache } from 'lru-cache'
import type { StartDeadline } from '../deadlines.ts'
import type { SlackIds, Triple } from '../slack-ids.ts'
import { CACHE_SECONDS, type TripleItem, type TripleStore } from './triple-store.ts'
import { hash } from './known-id-store.ts'

/** A table that takes longer is slower than Slack. */
const STORE_TIMEOUT_MS = 300
const CACHE_MS = CACHE_SECONDS * 1000
const MAX_ENTRIES = 50_000
/**
 * An entry is refreshed after 60 to 80 % of its lifetime. The time depends on the key, so that
 * entries that were verified together are not refreshed together.
 */
const MIN_REFRESH_PART = 0.6
const MAX_REFRESH_PART = 0.8

export interface CachedTriple {
  /** Milliseconds since the epoch, here and below. */
  verifiedAt: number
  refreshAt: number
}

/** The cache key of a request that names a team, a user or bot, and a channel. */
export interface RequestTriple {
  key: string
  /** As stored in the table. Undefined for a bot, which the table could not tell from a user. */
  stored: Triple | undefined
  /** The request names nothing beyond the triple. */
  coversRequest: boolean
}

export interface TripleCache {
  /** Reads the memory only. */
  get(key: string): CachedTriple | undefined
  /** Reads the table. Undefined also if that fails or takes too long. */
  load(
    triple: RequestTriple,
    options: { token: string; deadline: Deadline; generation: number },
  ): Promise<CachedTriple | undefined>
  /** Writes the memory now; the returned write to the table never fails. */
  save(
    triple: RequestTriple,
    options: { token: string; verifiedAt: number; generation: number },
  ): Promise<void>
  delete(key: string): void
  /** Deletes a team's entries from memory, or for an organisation all entries. */
  deleteTeam(team: string): void
  /** Incremented when a team is deleted: a check that began before is not cached in memory. */
  generation(): number
}

export function createTripleCache(deps: {
  clock: Clock
  startDeadline: StartDeadline
  store: TripleStore | undefined
  /** If set, an entry without a valid MAC is a miss. */
  withMac: boolean
  onFailed: (action: 'read' | 'write', error: unknown) => void
}): TripleCache {
  const { clock, startDeadline, store, withMac, onFailed } = deps
  const entries = new LRUCache<string, CachedTriple>({ max: MAX_ENTRIES })
  let generation = 0

  function remember(key: string, verifiedAt: number, began: number): CachedTriple {
    const part = MIN_REFRESH_PART + (MAX_REFRESH_PART - MIN_REFRESH_PART) * (hash(key) / 2 ** 32)
    const entry = { verifiedAt, refreshAt: verifiedAt + part * CACHE_MS }
    if (began === generation) entries.set(key, entry)
    return entry
  }

  async function read(triple: Triple, deadline: Deadline): Promise<TripleItem | undefined> {
    const reading = store?.get(triple).catch((error: unknown) => {
      onFailed('read', error)
      return undefined
    })
    if (!reading) return undefined
    const limit = startDeadline({ ms: Math.min(STORE_TIMEOUT_MS, deadline.remainingMs()) })
    const settled = await limit.settle(reading)
    limit.stop()
    return settled === 'late' ? undefined : settled.value
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry || isRecent(clock, entry.verifiedAt, CACHE_MS)) return entry
      entries.delete(key)
      return undefined
    },

    async load({ key, stored }, { token, deadline, generation: began }) {
      const item = stored && (await read(stored, deadline))
      if (!item || (withMac && !hasValidMac(item, token))) return undefined
      return remember(key, 1000 * (item.ttl - CACHE_SECONDS), began)
    },

    async save({ key, stored }, { token, verifiedAt, generation: began }) {
      remember(key, verifiedAt, began)
      const second = Math.floor(verifiedAt / 1000)
      // An entry must expire after the second in which it is created.
      if (!stored || second + CACHE_SECONDS <= epochSeconds(clock)) return
      const options = { verifiedAt: second, ...(withMac && { mac: createEntryMac(token) }) }
      await store?.put(stored, options).catch((error: unknown) => onFailed('write', error))
    },

    delete: (key) => void entries.delete(key),

    generation: () => generation,

    deleteTeam(team) {
      generation += 1
      // The workspaces of an organisation are not known here. Verifying the other entries again
      // takes no call, because their entities are cached.
      if (team.startsWith('E')) return entries.clear()
      for (const key of entries.keys()) if (key.startsWith(`${team}#`)) entries.delete(key)
    },
  }
}

export function tripleOf(ids: SlackIds): RequestTriple | undefined {
  const { team, channel, user, bot, otherTeams, enterprise } = ids
  const actor = user ?? (bot === undefined ? undefined : `bot:${bot}`)
  if (actor === undefined || channel === undefined) return undefined
  return {
    key: `${team}#${actor}#${channel}`,
    stored: user === undefined ? undefined : { team, user, channel },
    coversRequest:
      // The token proves whether the team belongs to the organisation.
      enterprise === undefined &&
      (user === undefined || bot === undefined) &&
      (otherTeams === undefined || otherTeams.length === 0),
  }
}

const MAC_PURPOSE = 'strongroom two-key cache entry'

/**
 * The key of the MAC is derived from the bot token: write access to the table is not enough to switch
 * the check off, and entries become invalid with the token.
 */
function createEntryMac(token: string): (entry: TripleItem) => Uint8Array {
  const key = new Uint8Array(hkdfSync('sha256', token, '', MAC_PURPOSE, 32))
  return ({ cache_key, ttl, verified_at }) =>
    new Uint8Array(
      createHmac('sha256', key)
        .update(JSON.stringify([cache_key, ttl, verified_at ?? null]))
        .digest(),
    )
}

function hasValidMac(entry: TripleItem, token: string): boolean {
  return entry.mac !== undefined && timingSafeEqual(entry.mac, createEntryMac(token)(entry))
}
