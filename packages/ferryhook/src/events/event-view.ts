/** Events, their deliveries and attempts, as they are shown. */
import { z } from '@hono/zod-openapi'
import { deliveryStates, derivedStatus } from '../items/delivery-state.ts'
import type { Attempt, Delivery } from '../items/delivery.ts'
import { type Event, eventStatuses, isUnverified } from '../items/event.ts'

const Time = z.string().openapi({ example: '2026-01-31T12:00:00.000Z' })

export const EventView = z
  .object({
    id: z.string().openapi({ example: 'evt_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
    status: z.enum(eventStatuses),
    reason: z.string().nullable().openapi({ description: 'Why, where the status does not say it' }),
    unverified: z.boolean().openapi({ description: 'Whether its signature was not right' }),
    method: z.string(),
    query: z.string().nullable(),
    contentType: z.string().nullable(),
    bodyBytes: z.int(),
    sourceIp: z.string(),
    deliveries: z
      .record(z.enum(deliveryStates), z.int())
      .openapi({ description: 'How many of its deliveries are in each state' }),
    receivedAt: Time,
    processedAt: Time.nullable(),
    deliveredAt: Time.nullable(),
    replayedAt: Time.nullable(),
    expiresAt: Time,
  })
  .openapi('FerryhookEvent')

export const DeliveryView = z
  .object({
    eventId: z.string(),
    connectionId: z.string(),
    state: z.enum(deliveryStates),
    reason: z.string().nullable(),
    run: z.int().openapi({ description: '1, and one more for each replay' }),
    replayId: z.string().nullable(),
    attemptsMade: z.int().openapi({ description: 'In this run' }),
    nextAttemptAt: Time.nullable(),
    updatedAt: Time,
  })
  .openapi('FerryhookDelivery')

const AttemptView = z
  .object({
    number: z.int(),
    run: z.int(),
    connectionId: z.string(),
    destinationUrl: z.string(),
    statusCode: z.int().openapi({ description: '0 if there was no answer' }),
    latencyMs: z.int(),
    responseBody: z.string().nullable().openapi({ description: 'Its first 1,000 characters' }),
    error: z.string().nullable(),
    attemptedAt: Time,
  })
  .openapi('FerryhookAttempt')

/** A body as text if it is UTF-8, byte by byte, and otherwise in base64. */
export const BodyView = z.object({
  body: z.string(),
  encoding: z.enum(['utf-8', 'base64']),
})

export const HeadersView = z
  .record(z.string(), z.union([z.string(), z.array(z.string())]))
  .openapi({
    description: 'As they came, without credentials; a list where a name came several times',
  })

export const EventDetailView = EventView.omit({ deliveries: true })
  .extend({
    headers: HeadersView,
    ...BodyView.shape,
    deliveries: z.array(DeliveryView),
    attempts: z.array(AttemptView).openapi({ description: 'In the order in which they were made' }),
  })
  .openapi('FerryhookEventDetail')

export function viewEvent(event: Event): z.infer<typeof EventView> {
  return { ...viewOf(event), deliveries: event.counts }
}

export function viewEventDetail(
  event: Event,
  found: { body: Uint8Array; deliveries: Delivery[]; attempts: Attempt[] },
): z.infer<typeof EventDetailView> {
  return {
    ...viewOf(event),
    headers: viewHeaders(event),
    ...viewBody(found.body),
    deliveries: found.deliveries.map(viewDelivery),
    attempts: found.attempts.toSorted(byTime).map(viewAttempt),
  }
}

export function viewDelivery(delivery: Delivery): z.infer<typeof DeliveryView> {
  const { eventId, connectionId, state, run, attemptsMade } = delivery
  return {
    eventId,
    connectionId,
    state,
    reason: delivery.reason ?? null,
    run,
    replayId: delivery.replayId ?? null,
    attemptsMade,
    nextAttemptAt: isoTime(delivery.nextAttemptAt),
    updatedAt: new Date(delivery.updatedAt).toISOString(),
  }
}

export function viewBody(body: Uint8Array): z.infer<typeof BodyView> {
  try {
    // A byte order mark is part of the body.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { body: decoder.decode(body), encoding: 'utf-8' }
  } catch {
    return { body: Buffer.from(body).toString('base64'), encoding: 'base64' }
  }
}

export function viewHeaders({ headers }: Pick<Event, 'headers'>): z.infer<typeof HeadersView> {
  return JSON.parse(headers) as z.infer<typeof HeadersView>
}

function viewOf(event: Event) {
  const { eventId: id, sourceId, status, method, bodyBytes, sourceIp } = event
  return {
    id,
    sourceId,
    status,
    // Once there are deliveries, they have reasons of their own.
    reason: derivedStatus(event.counts) ? null : (event.reason ?? null),
    unverified: isUnverified(event),
    method,
    query: event.query ?? null,
    contentType: event.contentType ?? null,
    bodyBytes,
    sourceIp,
    receivedAt: new Date(event.receivedAt).toISOString(),
    processedAt: isoTime(event.processedAt),
    deliveredAt: isoTime(event.deliveredAt),
    replayedAt: isoTime(event.replayedAt),
    expiresAt: new Date(event.expiresAt * 1000).toISOString(),
  }
}

function viewAttempt(attempt: Attempt): z.infer<typeof AttemptView> {
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

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
