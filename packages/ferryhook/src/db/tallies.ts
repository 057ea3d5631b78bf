/** What sources were sent beyond their events, by the hour. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { tallyCounts, type TallyCounts, TallyItem, tallyKey, type Tally } from '../items/tally.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import { isLive } from './times.ts'

export const HOUR_MS = 3_600_000

const KEPT_SECONDS = 30 * 86_400

export interface HourOfSource extends TallyCounts {
  /** The first millisecond of the hour. */
  hour: number
}

export function createTallies({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const tallies = entity(db, eventsTable, TallyItem)

  return {
    /** The counts of one process for one hour, in place of those it put before. */
    put: (tally: Omit<Tally, 'PK' | 'SK' | 'expiresAt'>): Promise<void> =>
      tallies.put({
        ...tallyKey.of(tally),
        ...tally,
        expiresAt: Math.floor(tally.hour / 1000) + KEPT_SECONDS,
      }),

    /** Of the hours since a time, those that have something to tell, oldest first. */
    async listBySource(sourceId: string, since: number): Promise<HourOfSource[]> {
      const [PK, SK] = [tallies.attr('PK'), tallies.attr('SK')]
      const first = `TALLY#${Math.floor(Math.max(since, 0) / HOUR_MS) * HOUR_MS}`
      const partition = tallyKey.of({ sourceId, hour: '', writerId: '' }).PK
      const { items } = await tallies.query({
        key: expr`${PK} = ${partition} AND ${SK} BETWEEN ${first} AND ${'TALLY#~'}`,
      })
      const hours = new Map<number, HourOfSource>()
      for (const tally of items.filter((item) => isLive(clock, item))) {
        const hour = hours.get(tally.hour) ?? { hour: tally.hour, ...nothing }
        for (const count of tallyCounts) hour[count] += tally[count]
        hours.set(tally.hour, hour)
      }
      return [...hours.values()]
    },
  }
}

export type Tallies = ReturnType<typeof createTallies>

export const nothing: Readonly<TallyCounts> = { minute: 0, month: 0, unverified: 0, beyondMonth: 0 }
