/** Events and filters for tests. */
import { expect } from 'vitest'
import type { ReceivedEvent } from '../../src/filters/received-event.ts'
import { Filter } from '../../src/filters/filter.ts'
import { type FilterResult, matchFilter } from '../../src/filters/match.ts'

/** Text and bytes are used unchanged, anything else as JSON. */
export function received(body: unknown, rest: Partial<ReceivedEvent> = {}): ReceivedEvent {
  return {
    id: 'evt_0123456789abcdef',
    receivedAt: 1_760_000_000_000,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    contentType: 'application/json',
    body: bytesOf(body),
    ...rest,
  }
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

/** A filter as a client sends it, applied to an event. */
export function match(rules: unknown, event: ReceivedEvent): FilterResult {
  return matchFilter(Filter.parse(rules), event)
}

/** Whether one condition matches. */
export function holds(
  path: string,
  operator: string,
  value: unknown,
  event: ReceivedEvent,
): boolean {
  return match([{ path, operator, ...(value !== undefined && { value }) }], event).matched
}

/** The paths and messages that a client gets for a rejected filter. */
export function refusal(rules: unknown): [path: string, message: string][] {
  const { error } = Filter.safeParse(rules)
  expect(error).toBeDefined()
  return (error?.issues ?? []).map(({ path, message }) => [path.join('.'), message])
}
