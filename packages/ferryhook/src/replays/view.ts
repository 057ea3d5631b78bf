import { z } from '@hono/zod-openapi'
import { eventStatuses } from '../events/values.ts'
import { type Replay, replayStates } from './item.ts'

export const ReplayView = z
  .object({
    id: z.string().openapi({ example: 'rpl_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
    sourceName: z.string().nullable().openapi({ description: 'null after the source was purged' }),
    connectionIds: z.array(z.string()),
    from: z.string(),
    to: z.string(),
    status: z.enum(eventStatuses).nullable(),
    type: z.string().nullable(),
    allConnections: z.boolean(),
    header: z.string().nullable(),
    body: z.string().nullable(),
    perSecond: z.number(),
    state: z.enum(replayStates),
    progress: z
      .number()
      .min(0)
      .max(1)
      .openapi({ description: 'The processed share of the time range' }),
    events: z.object({
      examined: z.int(),
      matched: z.int().openapi({ description: 'Events that match the filter' }),
      unverified: z.int().openapi({ description: 'Skipped because their signature was invalid' }),
      gone: z.int().openapi({ description: 'Expired before they were replayed' }),
    }),
    deliveries: z.object({
      replayed: z.int(),
      runOpen: z.int().openapi({ description: 'Skipped because a delivery was still pending' }),
    }),
    estimatedEndAt: z.string().nullable().openapi({
      description: 'At the pace so far; null if the job has ended or has just started',
    }),
    createdBy: z.string().openapi({ example: 'user:usr_V1StGXR8_Z5jdHi6' }),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('FerryhookReplay')

export function toReplayView(
  replay: Replay,
  sourceName: string | null,
): z.infer<typeof ReplayView> {
  const { examined, matched, unverified, gone, replayed, runOpen } = replay.counts
  const { from, to } = replay
  return {
    id: replay.replayId,
    sourceId: replay.sourceId,
    sourceName,
    connectionIds: replay.connectionIds,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    status: replay.status ?? null,
    type: replay.type ?? null,
    allConnections: replay.allConnections ?? false,
    header: replay.header ?? null,
    body: replay.body ?? null,
    perSecond: replay.perSecond,
    state: replay.state,
    progress: progressOf(replay),
    events: { examined, matched, unverified, gone },
    deliveries: { replayed, runOpen },
    estimatedEndAt: estimateEnd(replay),
    createdBy: replay.createdBy,
    createdAt: replay.createdAt,
    updatedAt: replay.updatedAt,
  }
}

/** By the time of the last processed event, because the number of events is unknown. */
function progressOf({ state, from, to, at }: Replay): number {
  if (state === 'done') return 1
  if (!at) return 0
  return Math.round(((at.receivedAt - from) / Math.max(to - from, 1)) * 1000) / 1000
}

/** From the time that the processed share took, up to the last step. */
function estimateEnd(replay: Replay): string | null {
  const progress = progressOf(replay)
  if (replay.state !== 'running' || progress === 0) return null
  const startedAt = Date.parse(replay.createdAt)
  const tookMs = Date.parse(replay.updatedAt) - startedAt
  return tookMs === 0 ? null : new Date(startedAt + Math.round(tookMs / progress)).toISOString()
}
