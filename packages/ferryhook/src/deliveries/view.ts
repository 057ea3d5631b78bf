/** Deliveries and attempts as responses. */
import { z } from '@hono/zod-openapi'
import type { CircuitState } from '../connections/activity-store.ts'
import { CircuitView, toCircuitView } from '../connections/view.ts'
import type { HeaderFields } from '../outbound/headers.ts'
import { restoreSentHeaders } from '../outbound/sent-headers.ts'
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
    circuit: z.union([CircuitView, z.null()]).openapi({
      description: 'The circuit breaker of the connection, if the delivery waits for it',
    }),
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
    requestHeaders: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .nullable()
      .openapi({
        description:
          'As sent, at most 4 KB, with a placeholder for credentials, and without those that the HTTP client adds: Host, User-Agent, Content-Length, Accept-Encoding and Connection. Null if nothing was sent, or by versions that did not record them.',
      }),
    requestBody: z.enum(['received', 'transformed']).nullable().openapi({
      description: 'Whether the body was that of the event, or the result of the transform',
    }),
    responseHeaders: z.record(z.string(), z.string()).nullable().openapi({
      description: 'At most 50 and 4 KB, without credentials; null without a response',
    }),
    responseBody: z.string().nullable().openapi({ description: 'The first 1,000 characters' }),
    error: z.string().nullable(),
    attemptedAt: Time,
  })
  .openapi('FerryhookAttempt')

export const SentBodyView = z
  .object({
    origin: z.enum(['received', 'transformed', 'unknown']).openapi({
      description:
        '`received`: the body of the event. `transformed`: derived again with the transform of the connection; the same bytes, by their hash. `unknown`: see `reason`.',
    }),
    reason: z.enum(['not_recorded', 'transform_changed']).nullable().openapi({
      description:
        'Why the body is unknown. `not_recorded`: nothing was sent, or by a version that did not record it.',
    }),
    body: z.string().nullable(),
    encoding: z.enum(['utf-8', 'base64']).nullable(),
  })
  .openapi('FerryhookSentBody')

/** For lists, which do not read the headers of events. */
export const AttemptSummaryView = AttemptView.omit({ requestHeaders: true, requestBody: true })

/** With the circuit breaker that it waits for, if the caller knows it. */
export function toDeliveryView(
  delivery: Delivery,
  circuit?: CircuitState,
): z.infer<typeof DeliveryView> {
  const { eventId, connectionId, state, run, attemptsMade } = delivery
  return {
    eventId,
    connectionId,
    state,
    reason: delivery.reason ?? null,
    run,
    replayId: delivery.replayId ?? null,
    attemptsMade,
    nextAttemptAt: toIsoTime(circuit?.nextAttemptAt ?? delivery.nextAttemptAt),
    circuit: circuit ? toCircuitView(circuit) : null,
    updatedAt: new Date(delivery.updatedAt).toISOString(),
  }
}

/** In chronological order. */
export function toAttemptViews(
  attempts: readonly Attempt[],
  received: HeaderFields,
): z.infer<typeof AttemptView>[] {
  return attempts.toSorted(byTime).map((attempt) => toAttemptView(attempt, received))
}

function toAttemptView(attempt: Attempt, received: HeaderFields): z.infer<typeof AttemptView> {
  const { requestHeaders, requestBodyHash } = attempt
  const isRecorded = requestHeaders !== undefined
  const requestBody = requestBodyHash === undefined ? 'received' : 'transformed'
  return {
    ...toAttemptSummaryView(attempt),
    requestHeaders: isRecorded ? restoreSentHeaders(requestHeaders, received) : null,
    requestBody: isRecorded ? requestBody : null,
  }
}

export function toAttemptSummaryView(attempt: Attempt): z.infer<typeof AttemptSummaryView> {
  const { attemptNumber, run, connectionId, destinationUrl, statusCode, latencyMs } = attempt
  return {
    number: attemptNumber,
    run,
    connectionId,
    destinationUrl,
    statusCode,
    latencyMs,
    responseHeaders: toResponseHeadersView(attempt),
    responseBody: attempt.responseBody ?? null,
    error: attempt.error ?? null,
    attemptedAt: new Date(attempt.attemptedAt).toISOString(),
  }
}

function toResponseHeadersView({ responseHeaders }: Attempt): Record<string, string> | null {
  if (responseHeaders === undefined) return null
  return JSON.parse(responseHeaders) as Record<string, string>
}

function byTime(a: Attempt, b: Attempt): number {
  return a.attemptedAt - b.attemptedAt || a.run - b.run || a.attemptNumber - b.attemptNumber
}

export function toIsoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
