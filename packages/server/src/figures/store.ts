/** Reads and writes figures. Each process owns its items, so writers never conflict. */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { operationsTable } from '@strongroom/kit/operations-table'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { FiguresItem, hourOf } from './item.ts'

export function createFiguresStore({ db, clock }: { db: Db; clock: Clock }) {
  const items = entity(db, operationsTable, FiguresItem)
  return {
    put: (item: FiguresItem): Promise<void> => items.put(item),

    /** Of all processes since the hour of this time, oldest first. */
    async listSince(time: number): Promise<FiguresItem[]> {
      const key = expr`${items.attr('PK')} = ${'FIGURES'} AND ${items.attr('SK')} >= ${hourOf(time)}`
      const { items: found } = await items.query({ key, eventual: true })
      return found.filter(({ expiresAt }) => expiresAt > epochSeconds(clock))
    },
  }
}

export type FiguresStore = ReturnType<typeof createFiguresStore>
