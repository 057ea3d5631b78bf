/**
 * The ids that were verified in the last day, kept in the server's own table so that neither a
 * restart nor another machine takes a real person for a stranger while a flood lasts.
 *
 * Ids of a team are spread over chunks by a hash. A chunk is read, joined with what is new and
 * written if nobody has written it meanwhile.
 */
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import * as z from 'zod'

export const KNOWN_SECONDS = 24 * 60 * 60
const CHUNKS = 16
/** At 400 KB an item is full; so many of the longest names leave room. */
const MOST_IN_CHUNK = 4_000
const TRIES = 5

export const KnownItem = z.object({
  PK: z.string().startsWith('KNOWN#'),
  SK: z.string().regex(/^CHUNK#\d\d$/),
  /** When each id was verified last, in seconds since the epoch. */
  ids: z.record(z.string(), z.number().int().positive()),
  revision: z.number().int().positive(),
})

/** Id and the second it was verified last. */
export type KnownTimes = ReadonlyMap<string, number>

export interface KnownStore {
  load(team: string): Promise<KnownTimes>
  /** Joins these with what is stored, the later time of each id, and drops what is over a day old. */
  save(team: string, times: KnownTimes, now: number): Promise<void>
}

export function createKnownStore(db: Db, app: string): KnownStore {
  const items = entity(db, serverTable, KnownItem)
  const partition = (team: string) => `KNOWN#${app}#${team}`

  async function saveChunk(key: { PK: string; SK: string }, times: KnownTimes, now: number) {
    for (let attempt = 1; ; attempt++) {
      const before = await items.get(key)
      const ids = joined(before?.ids ?? {}, times, now)
      const isUnchanged = before
        ? expr`${items.attr('revision')} = ${before.revision}`
        : expr`attribute_not_exists(${items.attr('PK')})`
      try {
        await items.put({ ...key, ids, revision: (before?.revision ?? 0) + 1 }, isUnchanged)
        return
      } catch (error) {
        if (!(error instanceof ConditionFailed) || attempt === TRIES) throw error
      }
    }
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

function joined(before: Record<string, number>, times: KnownTimes, now: number) {
  const all = new Map(Object.entries(before))
  for (const [id, time] of times) all.set(id, Math.max(time, all.get(id) ?? 0))
  return Object.fromEntries(
    [...all]
      .filter(([, time]) => time > now - KNOWN_SECONDS)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, MOST_IN_CHUNK),
  )
}

function chunkOf(id: string): string {
  return `CHUNK#${String(hashOf(id) % CHUNKS).padStart(2, '0')}`
}

/** FNV-1a: spreads ids evenly, the same on every machine. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  }
  return hash
}
