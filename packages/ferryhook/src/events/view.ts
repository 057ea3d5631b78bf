/** Events as responses. */
import { z } from '@hono/zod-openapi'
import { deliveryStates, derivedStatus } from '../deliveries/state.ts'
import type { Attempt, Delivery } from '../deliveries/item.ts'
import {
  AttemptView,
  DeliveryView,
  Time,
  toAttemptViews,
  toDeliveryView,
  toIsoTime,
} from '../deliveries/view.ts'
import { type Event, eventStatuses, isUnverified } from './item.ts'

export const EventView = z
  .object({
    id: z.string().openapi({ example: 'evt_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
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
    receivedAt: Time,
    processedAt: Time.nullable(),
    deliveredAt: Time.nullable(),
    replayedAt: Time.nullable(),
    expiresAt: Time,
  })
  .openapi('FerryhookEvent')

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

export const EventDetailView = EventView.omit({ deliveries: true })
  .extend({
    headers: HeadersView,
    ...BodyView.shape,
    deliveries: z.array(DeliveryView),
    attempts: z.array(AttemptView).openapi({ description: 'In chronological order' }),
  })
  .openapi('FerryhookEventDetail')

export function toEventView(event: Event): z.infer<typeof EventView> {
  return { ...baseView(event), deliveries: event.counts }
}

export function toEventDetailView(
  event: Event,
  found: { body: Uint8Array; deliveries: Delivery[]; attempts: Attempt[] },
): z.infer<typeof EventDetailView> {
  return {
    ...baseView(event),
    headers: toHeadersView(event),
    ...toBodyView(found.body),
    deliveries: found.deliveries.map(toDeliveryView),
    attempts: toAttemptViews(found.attempts),
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

function baseView(event: Event) {
  const { eventId: id, sourceId, status, method, bodyBytes, sourceIp } = event
  return {
    id,
    sourceId,
    status,
    // Deliveries have their own reasons.
    reason: derivedStatus(event.counts) ? null : (event.reason ?? null),
    unverified: isUnverified(event),
    method,
    query: event.query ?? null,
    contentType: event.contentType ?? null,
    bodyBytes,
    sourceIp,
    receivedAt: new Date(event.receivedAt).toISOString(),
    processedAt: toIsoTime(event.processedAt),
    deliveredAt: toIsoTime(event.deliveredAt),
    replayedAt: toIsoTime(event.replayedAt),
    expiresAt: new Date(event.expiresAt * 1000).toISOString(),
  }
}
