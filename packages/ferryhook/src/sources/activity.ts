/** Events of sources by the hour, from stored statistics only, so that a list of many is cheap. */
import { z } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import { HOUR_MS } from '../storage/time.ts'
import type { Stores } from '../stores.ts'
import type { Source } from './item.ts'

const HOURS = 24
const SOURCE_CONCURRENCY = 10

export const SourceActivityView = z
  .object({
    from: z.string().openapi({ description: 'The start of the first hour' }),
    events: z.array(z.int()).openapi({
      description:
        'Events received in each of the last 24 full hours, oldest first. An hour is counted about two minutes after its end.',
    }),
  })
  .openapi('FerryhookSourceActivity')
export type SourceActivityView = z.infer<typeof SourceActivityView>

export type SourceActivity = ReturnType<typeof createSourceActivity>

export function createSourceActivity({
  stores,
  clock,
}: {
  stores: Pick<Stores, 'statistics'>
  clock: Clock
}) {
  return async (sources: readonly Source[]): Promise<Map<string, SourceActivityView>> => {
    const until = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    const from = until - HOURS * HOUR_MS
    const found = await pLimit(SOURCE_CONCURRENCY).map(sources, async ({ sourceId }) => {
      const events = Array.from({ length: HOURS }, () => 0)
      for (const rollup of await stores.statistics.list(sourceId, 'hour', { from, until })) {
        const counts = Object.values(rollup.events)
        events[(rollup.startsAt - from) / HOUR_MS] = counts.reduce((sum, n) => sum + n, 0)
      }
      return [sourceId, { from: new Date(from).toISOString(), events }] as const
    })
    return new Map(found)
  }
}
