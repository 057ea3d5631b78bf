/** Events as responses. */
import { z } from '@hono/zod-openapi'
import { deliveryStates, derivedStatus } from '../deliveries/state.ts'
import {
  AttemptView,
  DeliveryView,
  Time,
  toAttemptViews,
  toDeliveryView,
  toIsoTime,
} from '../deliveries/view.ts'
import { type Event, isUnverified } from './item.ts'
import { eventStatuses } from './values.ts'
import type { ListedEvent } from './merged-listing.ts'
import type { EventDetails } from './service.ts'

export const EventView = z
  .object({
    id: z.string().openapi({ example: 'evt_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
    type: z.string().nullable().openapi({
      description: 'The provider’s name of what happened, if it has one',
      example: 'invoice.paid',
    }),
    status: z.enum(eventStatuses),
    reason: z.string().nullable().openapi({ description: 'Why the event has this status' }),
    unverified: z.boolean().openapi({ description: 'Whether its signature was invalid' }),
    method: z.string(),
    query: z.string().nullable(),
    contentType: z.string().nullable(),
    bodyBytes: z.int(),
    sourceIp: z.string(),
    deliveries: z
      .record(z.enum(deliveryStates), z.int())
      .openapi({ description: 'The number of its deliveries in each state' }),
    lastAttempt: z
      .object({
        connectionId: z.string(),
        number: z.int().openapi({ description: 'In its run' }),
        maxAttempts: z.int().openapi({ description: 'Of the retry schedule at the time' }),
        statusCode: z.int().openapi({ description: '0 without a response' }),
        latencyMs: z.int(),
        outcome: z
          .string()
          .openapi({ description: 'delivered, http_error, timeout, transform, …' }),
        attemptedAt: Time,
      })
      .nullable()
      .openapi({
        description:
          'The attempt that explains the status: the latest one, but a success does not replace the failure of another connection. Null before the first attempt, and for events of versions that did not record it.',
      }),
    receivedAt: Time,
    processedAt: Time.nullable(),
    deliveredAt: Time.nullable(),
    replayedAt: Time.nullable(),
    expiresAt: Time,
  })
  .openapi('FerryhookEvent')

export const ListedEventView = EventView.extend({ sourceName: z.string() }).openapi(
  'FerryhookListedEvent',
)

/** The body as text if it is valid UTF-8, otherwise in base64. */
export const BodyView = z.object({
  body: z.string(),
  encoding: z.enum(['utf-8', 'base64']),
})

export const HeadersView = z
  .record(z.string(), z.union([z.string(), z.array(z.string())]))
  .openapi({
    description: 'As received, without credentials; a list if a name occurs several times',
  })

const connectionName = z.string().nullable().openapi({
  description: 'Also of a deleted connection; null after its source was purged',
})

export const EventDetailView = EventView.omit({ deliveries: true })
  .extend({
    sourceName: z.string(),
    headers: HeadersView,
    ...BodyView.shape,
    deliveries: z.array(DeliveryView.extend({ connectionName })),
    attempts: z
      .array(AttemptView.extend({ connectionName }))
      .openapi({ description: 'In chronological order' }),
  })
  .openapi('FerryhookEventDetail')

export function toEventView(event: ListedEvent): z.infer<typeof EventView> {
  return { ...baseView(event), deliveries: event.counts }
}

export function toEventDetailView(
  event: Event,
  found: Omit<EventDetails, 'event'>,
): z.infer<typeof EventDetailView> {
  const names = new Map(found.connections.map(({ connectionId, name }) => [connectionId, name]))
  const named = <T extends { connectionId: string }>(view: T) => ({
    ...view,
    connectionName: names.get(view.connectionId) ?? null,
  })
  return {
    ...baseView(event),
    sourceName: found.source.name,
    headers: toHeadersView(event),
    ...toBodyView(found.body),
    deliveries: found.deliveries.map((each) =>
      named(toDeliveryView(each, found.circuits.get(each.connectionId))),
    ),
    attempts: toAttemptViews(found.attempts, toHeadersView(event)).map(named),
  }
}

export function toBodyView(body: Uint8Array): z.infer<typeof BodyView> {
  try {
    // A byte order mark is part of the body.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { body: decoder.decode(body), encoding: 'utf-8' }
  } catch {
    return { body: Buffer.from(body).toString('base64'), encoding: 'base64' }
  }
}

export function toHeadersView({ headers }: Pick<Event, 'headers'>): z.infer<typeof HeadersView> {
  return JSON.parse(headers) as z.infer<typeof HeadersView>
}

function toLastAttemptView({ lastAttempt }: ListedEvent) {
  if (!lastAttempt) return null
  const { connectionId, number, maxAttempts, statusCode, latencyMs, outcome } = lastAttempt
  const attemptedAt = new Date(lastAttempt.attemptedAt).toISOString()
  return { connectionId, number, maxAttempts, statusCode, latencyMs, outcome, attemptedAt }
}

function baseView(event: ListedEvent) {
  const { eventId: id, sourceId, status, method, bodyBytes, sourceIp } = event
  return {
    id,
    sourceId,
    type: event.eventType ?? null,
    status,
    // Deliveries have their own reasons.
    reason: derivedStatus(event.counts) ? null : (event.reason ?? null),
    unverified: isUnverified(event),
    method,
    query: event.query ?? null,
    contentType: event.contentType ?? null,
    bodyBytes,
    sourceIp,
    lastAttempt: toLastAttemptView(event),
    receivedAt: new Date(event.receivedAt).toISOString(),
    processedAt: toIsoTime(event.processedAt),
    deliveredAt: toIsoTime(event.deliveredAt),
    replayedAt: toIsoTime(event.replayedAt),
    expiresAt: new Date(event.expiresAt * 1000).toISOString(),
  }
}
