/** The loaded part of the list: pages by cursor, new events that wait at the top, and changes. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { request } from '../../api/request.ts'
import type { ListedEvent } from './event.ts'
import { apiQuery, type EventFilter, matches, needsServer } from './filter.ts'

interface Page {
  items: ListedEvent[]
  cursor: string | null
}

export interface EventList {
  rows: ReadonlySignal<readonly ListedEvent[]>
  /** New events that are not shown yet, newest first. */
  waiting: ReadonlySignal<readonly ListedEvent[]>
  /** New events that came too fast to be kept. */
  dropped: ReadonlySignal<number>
  isLoading: ReadonlySignal<boolean>
  error: ReadonlySignal<unknown>
  /** Whether all events were loaded. */
  isComplete: ReadonlySignal<boolean>
  load(filter: EventFilter): void
  loadMore(): void
  /** Shows the waiting events; loads the list again if some were dropped. */
  showNew(): void
  /** Takes events of the stream; with `show` they appear immediately. */
  take(batch: readonly { event: ListedEvent; isNew: boolean }[], show: boolean): void
  /** Replaces an event, such as after an action. */
  update(event: ListedEvent): void
}

const PAGE_SIZE = 100
/** A page of a rare match may be empty; after some of them the person decides. */
const MAX_EMPTY_PAGES = 5
const MAX_WAITING = 500
/** Rows that one batch of the stream may add while the list follows it. */
const MAX_SHOWN_PER_BATCH = 50
/** Refetches are at least this far apart if only the server can filter. */
const REFETCH_MS = 3_000

export function createEventList(): EventList {
  const rows = signal<readonly ListedEvent[]>([])
  const waiting = signal<readonly ListedEvent[]>([])
  const dropped = signal(0)
  const isLoading = signal(true)
  const error = signal<unknown>(undefined)
  const isComplete = signal(false)
  let filter: EventFilter | undefined
  let query: Record<string, string | undefined> = {}
  let cursor: string | null = null
  let ids = new Set<string>()
  let abort = new AbortController()
  let refetch: ReturnType<typeof setTimeout> | undefined

  function add(items: readonly ListedEvent[]): ListedEvent[] {
    return items.filter(({ id }) => !ids.has(id) && ids.add(id))
  }

  async function fetchPages(): Promise<void> {
    const own = abort.signal
    isLoading.value = true
    error.value = undefined
    try {
      for (let empty = 0; empty < MAX_EMPTY_PAGES; empty++) {
        const page: Page = await request('GET', '/ferryhook/v1/events', {
          query: { ...query, limit: PAGE_SIZE, cursor: cursor ?? undefined },
          signal: own,
        })
        if (own.aborted) return
        cursor = page.cursor
        isComplete.value = cursor === null
        rows.value = [...rows.value, ...add(page.items)]
        if (page.items.length > 0 || cursor === null) break
      }
    } catch (caught) {
      if (!own.aborted) error.value = caught
    } finally {
      if (!own.aborted) isLoading.value = false
    }
  }

  function load(next: EventFilter): void {
    abort.abort()
    abort = new AbortController()
    clearTimeout(refetch)
    refetch = undefined
    filter = next
    query = apiQuery(next, Date.now())
    cursor = null
    ids = new Set()
    rows.value = []
    waiting.value = []
    dropped.value = 0
    isComplete.value = false
    void fetchPages()
  }

  /** What is newer than the list, by the server's own filter. */
  async function fetchNew(): Promise<void> {
    const own = abort.signal
    refetch = undefined
    const from = waiting.value[0]?.receivedAt ?? rows.value[0]?.receivedAt ?? query['from']
    try {
      const page: Page = await request('GET', '/ferryhook/v1/events', {
        query: { ...query, from, limit: PAGE_SIZE },
        signal: own,
      })
      if (!own.aborted) keep(add(page.items))
    } catch {
      // The next event of the stream asks again.
    }
  }

  function keep(items: readonly ListedEvent[]): void {
    const all = [...items, ...waiting.value]
    dropped.value += Math.max(0, all.length - MAX_WAITING)
    waiting.value = all.slice(0, MAX_WAITING)
  }

  function replace(changed: ReadonlyMap<string, ListedEvent>): void {
    const swap = (list: readonly ListedEvent[]) => {
      if (!list.some(({ id }) => changed.has(id))) return list
      return list.map((event) => changed.get(event.id) ?? event)
    }
    rows.value = swap(rows.value)
    waiting.value = swap(waiting.value)
  }

  return {
    rows,
    waiting,
    dropped,
    isLoading,
    error,
    isComplete,
    load,
    loadMore() {
      if (!isLoading.value && !isComplete.value) void fetchPages()
    },
    showNew() {
      if (dropped.value > 0 && filter) load(filter)
      else {
        rows.value = [...waiting.value, ...rows.value]
        waiting.value = []
      }
    },
    take(batch, show) {
      if (!filter) return
      replace(new Map(batch.map(({ event }) => [event.id, event])))
      if (needsServer(filter)) {
        refetch ??= setTimeout(() => void fetchNew(), REFETCH_MS)
        return
      }
      const wanted = filter
      const oldest = rows.value.at(-1)?.receivedAt ?? ''
      const fresh = batch
        .filter(({ event }) => matches(wanted, event))
        // A change of an older event belongs to pages that are not loaded yet.
        .filter(({ event, isNew }) => isNew || event.receivedAt >= oldest)
        .map(({ event }) => event)
      const added = add(fresh).toSorted((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1))
      if (added.length === 0) return
      if (!show) {
        keep(added)
        return
      }
      dropped.value += Math.max(0, added.length - MAX_SHOWN_PER_BATCH)
      rows.value = [...added.slice(0, MAX_SHOWN_PER_BATCH), ...rows.value]
    },
    update: (event) => replace(new Map([[event.id, event]])),
  }
}
