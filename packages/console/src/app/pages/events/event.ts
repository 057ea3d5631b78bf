/** Events as the API returns them, and what a row says about one. */
import type { EventDetailView, ListedEventView } from '@strongroom/ferryhook/events/view'
import type { z } from 'zod'

export type ListedEvent = z.infer<typeof ListedEventView>
export type EventDetail = z.infer<typeof EventDetailView>
export type Delivery = EventDetail['deliveries'][number]
export type Attempt = EventDetail['attempts'][number]

export function nameOf(event: Pick<ListedEvent, 'type' | 'status' | 'method' | 'contentType'>) {
  if (event.type !== null) return event.type
  if (event.status === 'signature_failed') return `${event.method} without a valid signature`
  return `${event.method} ${event.contentType?.split(';')[0] ?? 'without a type'}`
}

const OUTCOMES: Record<string, string> = {
  timeout: 'timeout',
  transform: 'transform error',
  signing: 'signing error',
  dns: 'name not found',
  connection: 'connection failed',
  tls: 'TLS error',
  blocked_address: 'address not allowed',
  invalid_url: 'invalid URL',
  invalid_request: 'invalid request',
  loop: 'loop',
  gone: '410',
}

/** `503`, or why there was no response. */
export function outcomeText(attempt: { statusCode: number; outcome: string }): string {
  if (attempt.statusCode > 0) return String(attempt.statusCode)
  return OUTCOMES[attempt.outcome] ?? attempt.outcome.replaceAll('_', ' ')
}

/** In a narrow list with the status, in a wide one beside it. */
export function resultOf(event: ListedEvent): { short: string; long: string } {
  const { status, deliveries, lastAttempt } = event
  const all = Object.values(deliveries).reduce((sum, count) => sum + count, 0)
  const share = `${deliveries.delivered} of ${all}`
  const outcome = lastAttempt && outcomeText(lastAttempt)
  switch (status) {
    case 'received':
      return { short: 'Received', long: 'Not routed yet' }
    case 'processing':
      return { short: `Processing, ${share}`, long: `${share} delivered` }
    case 'delivered':
      return { short: `Delivered ${outcome ?? ''}`, long: outcome ?? 'Delivered' }
    case 'retrying': {
      if (!lastAttempt || !outcome) return { short: 'Retrying', long: 'Retrying' }
      const attempt = `${lastAttempt.number} of ${lastAttempt.maxAttempts}`
      return {
        short: `Retrying ${attempt}, ${outcome}`,
        long: `${capital(outcome)}, attempt ${attempt}`,
      }
    }
    case 'failed': {
      if (!lastAttempt || !outcome || lastAttempt.outcome === 'delivered')
        return { short: 'Failed', long: event.reason ?? `${share} delivered` }
      const count = lastAttempt.number === 1 ? '1 attempt' : `${lastAttempt.number} attempts`
      return { short: `Failed, ${outcome}`, long: `${capital(outcome)}, ${count}` }
    }
    case 'held':
      return { short: 'Held', long: 'Waits until it is released' }
    case 'filtered':
      return { short: 'Filtered', long: 'No filter matched' }
    case 'unrouted':
      return { short: 'Unrouted', long: 'Source has no connection' }
    case 'signature_failed':
      return { short: 'Signature failed', long: 'Response 401' }
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function isPending(state: string): boolean {
  return state === 'runnable' || state === 'retrying' || state === 'held'
}

/** Whether its status may still change by itself. */
export function isOpen({ status }: { status: string }): boolean {
  return ['received', 'processing', 'retrying', 'held'].includes(status)
}
