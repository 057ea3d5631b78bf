import { z } from '@hono/zod-openapi'
import { eventStatuses } from '../items/event.ts'
import { type Replay, replayStates } from '../items/replay.ts'

export const ReplayView = z
  .object({
    id: z.string().openapi({ example: 'rpl_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
    connectionIds: z.array(z.string()),
    from: z.string(),
    to: z.string(),
    status: z.enum(eventStatuses).nullable(),
    header: z.string().nullable(),
    body: z.string().nullable(),
    perSecond: z.number(),
    state: z.enum(replayStates),
    progress: z.number().min(0).max(1).openapi({ description: 'How much of the time is done' }),
    events: z.object({
      examined: z.int(),
      matched: z.int().openapi({ description: 'Those that are what was asked for' }),
      unverified: z.int().openapi({ description: 'Left out: their signature was not right' }),
      gone: z.int().openapi({ description: 'Expired before their turn' }),
    }),
    deliveries: z.object({
      replayed: z.int(),
      runOpen: z.int().openapi({ description: 'Left out: still under way' }),
    }),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('FerryhookReplay')

export function viewReplay(replay: Replay): z.infer<typeof ReplayView> {
  const { examined, matched, unverified, gone, replayed, runOpen } = replay.counts
  const { from, to } = replay
  return {
    id: replay.replayId,
    sourceId: replay.sourceId,
    connectionIds: replay.connectionIds,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    status: replay.status ?? null,
    header: replay.header ?? null,
    body: replay.body ?? null,
    perSecond: replay.perSecond,
    state: replay.state,
    progress: progressOf(replay),
    events: { examined, matched, unverified, gone },
    deliveries: { replayed, runOpen },
    createdAt: replay.createdAt,
    updatedAt: replay.updatedAt,
  }
}

/** By the time of the last event that is done with: how many there will be nobody knows. */
function progressOf({ state, from, to, at }: Replay): number {
  if (state === 'done') return 1
  if (!at) return 0
  return Math.round(((at.receivedAt - from) / Math.max(to - from, 1)) * 1000) / 1000
}
