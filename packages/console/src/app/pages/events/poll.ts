/** New and changed events by asking regularly, for deployments without a stream, such as AWS Lambda. */
import { request } from '../../api/request.ts'
import type { ServerEvent, StreamState } from '../../api/server-events.ts'
import type { ListedEvent } from './event.ts'

const INTERVAL_MS = 2_000
/** How long an event is asked for again, because its status may change. */
const WINDOW_MS = 60_000
/** What the list that the page just loaded may have missed. */
const OVERLAP_MS = 5_000
const PAGE_SIZE = 100

/** Returns how to stop. */
export function pollEvents(callbacks: {
  onEvent: (event: ServerEvent) => void
  onState: (state: StreamState) => void
}): () => void {
  const stop = new AbortController()
  const startedAt = Date.now()
  let known = new Map<string, string>()

  async function poll(): Promise<void> {
    try {
      const from = new Date(Date.now() - WINDOW_MS).toISOString()
      const { items } = await request<{ items: readonly ListedEvent[] }>(
        'GET',
        '/ferryhook/v1/events',
        { query: { from, limit: PAGE_SIZE }, signal: stop.signal },
      )
      callbacks.onState('open')
      // Oldest first, as a stream sends them.
      for (const event of items.toReversed()) report(event)
      known = new Map(items.map((event) => [event.id, stateOf(event)]))
    } catch {
      if (!stop.signal.aborted) callbacks.onState('lost')
    }
    if (!stop.signal.aborted) setTimeout(() => void poll(), INTERVAL_MS)
  }

  function report(event: ListedEvent): void {
    const before = known.get(event.id)
    if (before === stateOf(event)) return
    const isNew = before === undefined && Date.parse(event.receivedAt) > startedAt - OVERLAP_MS
    callbacks.onEvent({ name: isNew ? 'event' : 'change', data: event })
  }

  void poll()
  return () => stop.abort()
}

function stateOf({ status, deliveries, lastAttempt }: ListedEvent): string {
  return JSON.stringify([status, deliveries, lastAttempt])
}
