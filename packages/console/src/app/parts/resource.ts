/**
 * Data of a page. Old data stays while new data is fetched; temporary failures are retried with
 * increasing delays; what arrives after the page was left is ignored.
 */
import { type ReadonlySignal, signal, useSignalEffect } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { ApiFailure, isTemporary } from '../api/errors.ts'

export interface Resource<T> {
  /** The newest data, also while it is being replaced. */
  data: ReadonlySignal<T | undefined>
  /** Why the last fetch failed; undefined after a success. */
  error: ReadonlySignal<unknown>
  isLoading: ReadonlySignal<boolean>
  /** When the data was fetched. */
  fetchedAt: ReadonlySignal<number | undefined>
  /** When it is fetched again after a failure. */
  retryAt: ReadonlySignal<number | undefined>
  reload(): void
  /** Replaces the data, for example with the response of a change. */
  set(data: T): void
}

const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000]

/**
 * Fetches again whenever a signal that `fetch` reads before its first `await` changes, and every
 * `everyMs` while the page is visible.
 */
export function useResource<T>(
  fetch: (abort: AbortSignal) => Promise<T>,
  { everyMs }: { everyMs?: number } = {},
): Resource<T> {
  const state = useMemo(() => {
    const version = signal(0)
    return {
      data: signal<T | undefined>(undefined),
      error: signal<unknown>(undefined),
      isLoading: signal(true),
      fetchedAt: signal<number | undefined>(undefined),
      retryAt: signal<number | undefined>(undefined),
      version,
      reload: () => void version.value++,
    }
  }, [])
  useSignalEffect(() => {
    void state.version.value
    return run(fetch, state, everyMs)
  })
  return {
    ...state,
    set(data) {
      state.data.value = data
      state.error.value = undefined
    },
  }
}

interface State<T> {
  data: { value: T | undefined }
  error: { value: unknown }
  isLoading: { value: boolean }
  fetchedAt: { value: number | undefined }
  retryAt: { value: number | undefined }
}

/** Returns how to stop. */
function run<T>(
  fetch: (abort: AbortSignal) => Promise<T>,
  state: State<T>,
  everyMs: number | undefined,
): () => void {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  function again(afterMs: number) {
    timer = setTimeout(() => {
      if (document.visibilityState === 'visible') void once()
      else again(afterMs)
    }, afterMs)
  }

  async function once() {
    state.isLoading.value = true
    state.retryAt.value = undefined
    try {
      const data = await fetch(abort.signal)
      if (abort.signal.aborted) return
      failures = 0
      state.data.value = data
      state.error.value = undefined
      state.fetchedAt.value = Date.now()
      if (everyMs !== undefined) again(everyMs)
    } catch (error) {
      if (abort.signal.aborted) return
      state.error.value = error
      if (isTemporary(error)) {
        const delay = retryDelay(error, failures++)
        state.retryAt.value = Date.now() + delay
        again(delay)
      }
    } finally {
      if (!abort.signal.aborted) state.isLoading.value = false
    }
  }

  void once()
  return () => {
    abort.abort()
    clearTimeout(timer)
  }
}

function retryDelay(error: unknown, failures: number): number {
  const own = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 1_000
  return error instanceof ApiFailure ? Math.max(own, error.retryAfterMs ?? 0) : own
}
