/** An event that a worker is delivering, to one connection or to many at once. */
import type { DataLayer } from '../db/data-layer.ts'
import type { ReceivedEvent } from '../filters/event.ts'
import type { Event } from '../items/event.ts'
import type { HeaderFields } from './outgoing-headers.ts'

export interface EventInHand {
  /** As its filters and transforms see it, with its body; null if that is gone. */
  received(): Promise<ReceivedEvent | null>
  /**
   * Writes what changes the event, one after the other: its connections would meet at the item, and
   * all but one would have to begin again.
   */
  change(write: (known: Event) => Promise<Event | undefined>): Promise<void>
}

export function eventInHand(
  events: Pick<DataLayer['events'], 'getNeededBody'>,
  found: Event,
): EventInHand {
  let current = found
  let received: Promise<ReceivedEvent | null> | undefined
  let last: Promise<void> = Promise.resolve()

  async function read(): Promise<ReceivedEvent | null> {
    const body = await events.getNeededBody(found)
    if (!body) return null
    return {
      id: found.eventId,
      receivedAt: found.receivedAt,
      method: found.method,
      headers: JSON.parse(found.headers) as HeaderFields,
      query: found.query,
      body,
      contentType: found.contentType,
    }
  }

  async function inTurn(
    write: (known: Event) => Promise<Event | undefined>,
    before: Promise<void>,
  ) {
    await before
    current = (await write(current)) ?? current
  }

  return {
    received() {
      // A long body is read again rather than kept while the event waits for its turn.
      if (found.body === undefined) return read()
      return (received ??= read())
    },
    change(write) {
      const written = inTurn(write, last)
      // Whoever failed has its own error; the next one begins with what is known.
      last = written.catch(() => {})
      return written
    },
  }
}
