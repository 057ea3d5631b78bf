/** The events of all sources of an account as one listing, oldest first, for its stream. */
import { setImmediate } from 'node:timers/promises'
import type { EventPosition } from '../events/store.ts'
import type { Stores } from '../stores.ts'
import { type ForwardListing, isAfter } from './follower.ts'

const READ_CONCURRENCY = 8

/** `sourceIds` is called for each page, because sources are added while a stream is open. */
export function createAccountListing(
  events: Pick<Stores['events'], 'listForward'>,
  sourceIds: () => readonly string[],
): ForwardListing {
  return async (position, options) => {
    const ids = sourceIds()
    const pages: Awaited<ReturnType<ForwardListing>>[] = []
    while (pages.length < ids.length) {
      const some = ids.slice(pages.length, pages.length + READ_CONCURRENCY)
      const read = (id: string) => events.listForward(id, position, options)
      pages.push(...(await Promise.all(some.map(read))))
      // Other requests take turns with the reads of an account with many sources.
      await setImmediate()
    }
    // All sources were read up to here.
    let next: EventPosition | undefined
    for (const page of pages) {
      if (page.next && (!next || isAfter(next, page.next))) next = page.next
    }
    const frontier = next
    const items = pages
      .flatMap((page) => page.items)
      .filter((event) => !frontier || !isAfter(event, frontier))
      .toSorted((a, b) => (isAfter(a, b) ? 1 : -1))
    return { items, next }
  }
}
