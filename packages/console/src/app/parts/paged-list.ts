/** A list that is loaded page by page: what is loaded stays while more comes. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { isTemporary } from '../api/errors.ts'

export interface PagedList<T> {
  /** Undefined until the first page has come. */
  items: ReadonlySignal<readonly T[] | undefined>
  error: ReadonlySignal<unknown>
  /** When it is loaded again after a failure. */
  retryAt: ReadonlySignal<number | undefined>
  isLoading: ReadonlySignal<boolean>
  /** Whether there may be more. */
  hasMore: ReadonlySignal<boolean>
  loadMore(): void
  /** Starts again from the first page; the present items stay until it has come. */
  reload(): void
  /** Replaces items after a change, without loading the list again. */
  update(change: (items: readonly T[]) => readonly T[]): void
}

interface Page<T> {
  items: readonly T[]
  cursor: string | null
}

/** A page of a rare filter may be empty and still have a cursor; then the next one is loaded as well. */
const MAX_EMPTY_PAGES = 20

const RETRY_MS = 5_000

type Fetch<T> = (cursor: string | undefined, abort: AbortSignal) => Promise<Page<T>>

/** Loads again when `key` changes, which names the filter. */
export function usePagedList<T>(key: string, fetch: Fetch<T>): PagedList<T> {
  const state = useMemo(() => createState(fetch), [])
  state.useFetch(fetch)
  useEffect(() => {
    state.reload()
    return () => state.stop()
  }, [key])
  return state
}

function createState<T>(first: Fetch<T>) {
  const items = signal<readonly T[] | undefined>(undefined)
  const error = signal<unknown>(undefined)
  const retryAt = signal<number | undefined>(undefined)
  const isLoading = signal(true)
  const cursor = signal<string | undefined>(undefined)
  let fetch = first
  let running = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(isNew: boolean): Promise<void> {
    stop()
    const abort = new AbortController()
    running = abort
    isLoading.value = true
    error.value = undefined
    retryAt.value = undefined
    try {
      const before = isNew ? [] : (items.peek() ?? [])
      let position = isNew ? undefined : cursor.peek()
      let found: readonly T[] = []
      for (let pages = 0; pages < MAX_EMPTY_PAGES; pages++) {
        const page = await fetch(position, abort.signal)
        if (abort.signal.aborted) return
        found = page.items
        position = page.cursor ?? undefined
        if (found.length > 0 || position === undefined) break
      }
      items.value = [...before, ...found]
      cursor.value = position
    } catch (thrown) {
      if (abort.signal.aborted) return
      error.value = thrown
      if (isTemporary(thrown)) {
        retryAt.value = Date.now() + RETRY_MS
        timer = setTimeout(() => void load(isNew), RETRY_MS)
      }
    } finally {
      if (!abort.signal.aborted) isLoading.value = false
    }
  }

  function stop(): void {
    running.abort()
    clearTimeout(timer)
  }

  return {
    items,
    error,
    retryAt,
    isLoading,
    hasMore: computed(() => cursor.value !== undefined),
    stop,
    useFetch: (next: Fetch<T>) => (fetch = next),
    loadMore() {
      if (!isLoading.peek() && cursor.peek() !== undefined) void load(false)
    },
    reload: () => void load(true),
    update: (change: (all: readonly T[]) => readonly T[]) => {
      items.value = change(items.peek() ?? [])
    },
  }
}
