/** Deliveries and attempts as responses. */
import { z } from '@hono/zod-openapi'
import { deliveryStates } from './state.ts'
import type { Attempt, Delivery } from './item.ts'

export const Time = z.string().openapi({ example: '2026-01-31T12:00:00.000Z' })

export const DeliveryView = z
  .object({
    eventId: z.string(),
    connectionId: z.string(),
    state: z.enum(deliveryStates),
    reason: z.string().nullable(),
    run: z.int().openapi({ description: '1, incremented by each replay' }),
    replayId: z.string().nullable(),
    attemptsMade: z.int().openapi({ description: 'Attempts in this run' }),
    nextAttemptAt: Time.nullable(),
    updatedAt: Time,
  })
  .openapi('FerryhookDelivery')

export const AttemptView = z
  .object({
    number: z.int(),
    run: z.int(),
    connectionId: z.string(),
    destinationUrl: z.string(),
    statusCode: z.int().openapi({ description: '0 without a response' }),
    latencyMs: z.int(),
    responseBody: z.string().nullable().openapi({ description: 'The first 1,000 characters' }),
    error: z.string().nullable(),
    attemptedAt: Time,
  })
  .openapi('FerryhookAttempt')

export function toDeliveryView(delivery: Delivery): z.infer<typeof DeliveryView> {
  const { eventId, connectionId, state, run, attemptsMade } = delivery
  return {
    eventId,
    connectionId,
    state,
    reason: delivery.reason ?? null,
    run,
    replayId: delivery.replayId ?? null,
    attemptsMade,
    nextAttemptAt: toIsoTime(delivery.nextAttemptAt),
    updatedAt: new Date(delivery.updatedAt).toISOString(),
  }
}

/** In chronological order. */
export function toAttemptViews(attempts: readonly Attempt[]): z.infer<typeof AttemptView>[] {
  return attempts.toSorted(byTime).map(toAttemptView)
}

function toAttemptView(attempt: Attempt): z.infer<typeof AttemptView> {
  const { attemptNumber, run, connectionId, destinationUrl, statusCode, latencyMs } = attempt
  return {
    number: attemptNumber,
    run,
    connectionId,
    destinationUrl,
    statusCode,
    latencyMs,
    responseBody: attempt.responseBody ?? null,
    error: attempt.error ?? null,
    attemptedAt: new Date(attempt.attemptedAt).toISOString(),
  }
}

function byTime(a: Attempt, b: Attempt): number {
  return a.attemptedAt - b.attemptedAt || a.run - b.run || a.attemptNumber - b.attemptNumber
}

export function toIsoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
