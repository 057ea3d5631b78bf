/** An event that a worker is delivering to one or more connections. */
import type { Event } from '../events/item.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { HeaderFields } from '../outbound/headers.ts'
import type { Stores } from '../stores.ts'

export interface LoadedEvent {
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

  async function writeAfter(
    previous: Promise<void>,
    write: (event: Event) => Promise<Event | undefined>,
  ): Promise<void> {
    await previous
    current = (await write(current)) ?? current
  }

  return {
    received() {
      // A large body is read again for each attempt, so that queued attempts do not hold it.
      if (event.body === undefined) return read()
      return (received ??= read())
    },
    update(write) {
      const written = writeAfter(last, write)
      // The caller handles its failure; the next write starts from the last known event.
      last = written.catch(() => {})
      return written
    },
  }
}
