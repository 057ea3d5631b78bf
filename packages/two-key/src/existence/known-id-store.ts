/**
 * The ids that were verified in the last day, in the server's own table, so that after a restart or
 * on another machine a real user still counts as known during a flood.
 *
 * A hash spreads the ids of a team over chunks. A chunk is read, merged with the new ids and written
 * on the condition that it has not changed.
 */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { serverTable } from '@strongroom/kit/server-table'
import * as z from 'zod'

export const KNOWN_SECONDS = 24 * 60 * 60
const CHUNKS = 16
/** An item holds 400 KB, which is enough for this number of the longest names. */
const MAX_IDS_PER_CHUNK = 4_000
const MAX_ATTEMPTS = 5

export const KnownIdsItem = z.object({
  PK: z.string().startsWith('KNOWN#'),
  SK: z.string().regex(/^CHUNK#\d\d$/),
  /** When each id was last verified, in seconds since the epoch. */
  ids: z.record(z.string(), z.number().int().positive()),
  revision: z.number().int().positive(),
})

/** Each id with the second in which it was last verified. */
export type KnownTimes = ReadonlyMap<string, number>

export interface KnownIdStore {
  load(team: string): Promise<KnownTimes>
  /** Merges with what is stored, by the later time, and drops ids older than a day. */
  save(team: string, times: KnownTimes, now: number): Promise<void>
}

export function createKnownIdStore(db: Db, app: string): KnownIdStore {
  const items = entity(db, serverTable, KnownIdsItem)
  const partition = (team: string) => `KNOWN#${app}#${team}`

  async function saveChunk(key: { PK: string; SK: string }, times: KnownTimes, now: number) {
    const attempt = async () => {
      const before = await items.get(key)
      const isUnchanged = before
        ? expr`${items.attr('revision')} = ${before.revision}`
        : expr`attribute_not_exists(${items.attr('PK')})`
      const ids = merge(before?.ids ?? {}, times, now)
      await items.put({ ...key, ids, revision: (before?.revision ?? 0) + 1 }, isUnchanged)
    }
    await retryOnConflict(attempt, { maxAttempts: MAX_ATTEMPTS })
  }

  return {
    async load(team) {
      const { items: chunks } = await items.query({
        key: expr`${items.attr('PK')} = ${partition(team)}`,
        eventual: true,
      })
      return new Map(chunks.flatMap(({ ids }) => Object.entries(ids)))
    },

    async save(team, times, now) {
      const chunks = new Map<string, Map<string, number>>()
      for (const [id, time] of times) {
        const SK = chunkOf(id)
        const chunk = chunks.get(SK) ?? new Map<string, number>()
        chunks.set(SK, chunk.set(id, time))
      }
      for (const [SK, chunk] of chunks) await saveChunk({ PK: partition(team), SK }, chunk, now)
    },
  }
}

function merge(before: Record<string, number>, times: KnownTimes, now: number) {
  const all = new Map(Object.entries(before))
  for (const [id, time] of times) all.set(id, Math.max(time, all.get(id) ?? 0))
  return Object.fromEntries(
    [...all]
      .filter(([, time]) => time > now - KNOWN_SECONDS)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, MAX_IDS_PER_CHUNK),
  )
}

function chunkOf(id: string): string {
  return `CHUNK#${String(hash(id) % CHUNKS).padStart(2, '0')}`
}

/** FNV-1a: spreads ids evenly, and the same way on every machine. */
export function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0
  }
  return value
}
