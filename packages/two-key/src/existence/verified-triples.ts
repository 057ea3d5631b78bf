/**
 * Triples that were verified in the last five minutes: in memory, and behind that in the table that
 * all machines share. The store is asked for a moment only, and if it fails nothing is known.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { StartTimer } from '@strongroom/kit/safe-fetch/deadline'
import type { ExistenceCache } from '../existence-cache.ts'
import type { SlackIds as TripleIds } from '../keys.ts'
import { isAhead } from '../lasting.ts'
import { CACHE_SECONDS } from '../table.ts'
import { isAuthentic, macOf } from './cache-mac.ts'
import { keep } from './knowledge.ts'
import { hashOf } from './known-store.ts'

/** A store that takes longer is slower than Slack. */
const STORE_MS = 300
const LIFE_MS = CACHE_SECONDS * 1000
/**
 * When a triple is verified again before it ends: at 60 to 80 % of its life, each at a moment of its
 * own, so that what was verified together does not come back together.
 */
const EARLIEST = 0.6
const LATEST = 0.8

export interface Triple {
  /** Milliseconds since the epoch, here and below. */
  expiresAt: number
  refreshAt: number
}

export interface VerifiedTriples {
  /** In memory. */
  get(key: string): Triple | undefined
  /** In the table; undefined also if that fails, or takes too long or longer than until then. */
  find(
    key: string,
    ids: TripleIds | undefined,
    options: { token: string; until: number; era: number },
  ): Promise<Triple | undefined>
  /** Keeps a triple in memory, and hands back the write to the table, which never throws. */
  add(
    key: string,
    ids: TripleIds | undefined,
    options: { token: string; verifiedAt: number; era: number },
  ): Promise<void>
  drop(key: string): void
  /** Those of a team, or of an organisation and all others, from memory. */
  dropTeam(team: string): void
  /** Ends when a team is dropped: what was begun in an era is not kept after it. */
  era(): number
}

export function createVerifiedTriples(deps: {
  clock: Clock
  startTimer: StartTimer
  cache: ExistenceCache | undefined
  /** Whether entries carry a MAC. Then one without is none. */
  withMac: boolean
  onFailed: (action: 'read' | 'write', error: unknown) => void
}): VerifiedTriples {
  const { clock, startTimer, cache, withMac, onFailed } = deps
  const triples = new Map<string, Triple>()
  let drops = 0

  function remember(key: string, verifiedAt: number, era: number): Triple {
    const part = EARLIEST + (LATEST - EARLIEST) * (hashOf(key) / 2 ** 32)
    const triple = { expiresAt: verifiedAt + LIFE_MS, refreshAt: verifiedAt + part * LIFE_MS }
    if (era === drops) keep(triples, key, triple)
    return triple
  }

  async function soon<T>(work: Promise<T>, until: number): Promise<T | undefined> {
    let stop: (() => void) | undefined
    const late = new Promise<undefined>((resolve) => {
      const left = Math.min(STORE_MS, Math.max(0, until - clock.now()))
      stop = startTimer(left, () => resolve(undefined))
    })
    return Promise.race([work, late]).finally(stop)
  }

  return {
    get(key) {
      const found = triples.get(key)
      if (!found || isAhead(found.expiresAt, clock.now(), LIFE_MS)) return found
      triples.delete(key)
      return undefined
    },

    async find(key, ids, { token, until, era }) {
      if (!cache || !ids) return undefined
      const entry = await soon(
        cache.get(ids).catch((error: unknown) => {
          onFailed('read', error)
          return undefined
        }),
        until,
      )
      if (!entry || (withMac && !isAuthentic(entry, token))) return undefined
      return remember(key, 1000 * (entry.ttl - CACHE_SECONDS), era)
    },

    async add(key, ids, { token, verifiedAt, era }) {
      remember(key, verifiedAt, era)
      const second = Math.floor(verifiedAt / 1000)
      // It ends within this very second: an entry must outlive the moment it is made.
      if (!ids || second + CACHE_SECONDS <= epochSeconds(clock)) return
      const options = {
        verifiedAt: second,
        ...(withMac && { mac: macOf(token) }),
      }
      await cache?.put(ids, options).catch((error: unknown) => onFailed('write', error))
    },

    drop: (key) => void triples.delete(key),

    era: () => drops,

    dropTeam(team) {
      drops += 1
      // Which workspaces are its own is not known here. To verify the others again takes no call.
      if (team.startsWith('E')) return triples.clear()
      for (const key of triples.keys()) if (key.startsWith(`${team}#`)) triples.delete(key)
    },
  }
}
