/** Tells those who watch a source that this process has stored an event of it. */
export interface LiveHub {
  received(sourceId: string): void
  /** Calls for each event, until the returned function is called. */
  watch(sourceId: string, call: () => void): () => void
}

export function createLiveHub(): LiveHub {
  const watchers = new Map<string, Set<() => void>>()
  return {
    received(sourceId) {
      for (const call of watchers.get(sourceId) ?? []) call()
    },
    watch(sourceId, call) {
      const calls = watchers.get(sourceId) ?? new Set()
      watchers.set(sourceId, calls.add(call))
      return () => {
        calls.delete(call)
        if (calls.size === 0 && watchers.get(sourceId) === calls) watchers.delete(sourceId)
      }
    },
  }
}
