/** An event that a worker is delivering to one or more connections. */
import type { Event } from '../events/item.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { HeaderFields } from '../outbound/headers.ts'
import type { Stores } from '../stores.ts'

/** Bodies up to this size are held while an event is delivered; larger ones only during attempts. */
const MAX_HELD_BODY_BYTES = 4_096

export interface LoadedEvent {
  readonly eventType: string | undefined
  /** As filters and transforms see it, with its body; null if the body was deleted. */
  received(): Promise<ReceivedEvent | null>
  /**
   * Runs writes to the event one after the other. In parallel, the writes of its deliveries would
   * conflict, and all but one would have to be retried.
   */
  update(write: (event: Event) => Promise<Event | undefined>): Promise<void>
}

export function createLoadedEvent(
  events: Pick<Stores['events'], 'getBodyForTask'>,
  event: Event,
): LoadedEvent {
  let current = event
  let received: Promise<ReceivedEvent | null> | undefined
  let large: WeakRef<ReceivedEvent> | undefined
  let last: Promise<void> = Promise.resolve()

  async function read(): Promise<ReceivedEvent | null> {
    const body = await events.getBodyForTask(event)
    if (!body) return null
    return {
      id: event.eventId,
      receivedAt: event.receivedAt,
      method: event.method,
      headers: JSON.parse(event.headers) as HeaderFields,
      query: event.query,
      body,
      contentType: event.contentType,
    }
  }

  /** Attempts that run at the same time share a large body; attempts that only wait do not hold it. */
  async function readLarge(): Promise<ReceivedEvent | null> {
    try {
      const loaded = await read()
      if (loaded) large = new WeakRef(loaded)
      return loaded
    } finally {
      received = undefined
    }
  }

  async function writeAfter(
    previous: Promise<void>,
    write: (event: Event) => Promise<Event | undefined>,
  ): Promise<void> {
    await previous
    current = (await write(current)) ?? current
  }

  return {
    eventType: event.eventType,
    received() {
      if (event.bodyBytes <= MAX_HELD_BODY_BYTES) return (received ??= read())
      const loaded = large?.deref()
      return loaded ? Promise.resolve(loaded) : (received ??= readLarge())
    },
    update(write) {
      const written = writeAfter(last, write)
      // The caller handles its failure; the next write starts from the last known event.
      last = written.catch(() => {})
      return written
    },
  }
}
