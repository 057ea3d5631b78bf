/** The stream of events in batches, so that any rate costs a few renderings per second. */
import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { followStream, type ServerEvent, type StreamState } from '../../api/server-events.ts'
import { formatCount } from '../../parts/format.ts'
import type { ListedEvent } from './event.ts'
import { pollEvents } from './poll.ts'

export interface LiveEvent {
  event: ListedEvent
  isNew: boolean
}

const BATCH_MS = 500
/** Screen readers hear a count at most this often. */
const ANNOUNCE_MS = 10_000

export function useLive(isOn: boolean, onBatch: (batch: readonly LiveEvent[]) => void) {
  const state = useMemo(
    () => ({
      state: signal<StreamState>('connecting'),
      perSecond: signal(0),
      announced: signal(''),
    }),
    [],
  )
  useEffect(() => {
    if (!isOn) return
    let batch: LiveEvent[] = []
    let unannounced = 0
    let announcedAt = Date.now()
    const callbacks = {
      onState: (next: StreamState) => (state.state.value = next),
      onEvent({ name, data }: ServerEvent) {
        batch.push({ event: data as ListedEvent, isNew: name === 'event' })
      },
    }
    let stop = followStream('/ferryhook/v1/events/stream', {
      ...callbacks,
      onMissing: () => (stop = pollEvents(callbacks)),
    })
    const timer = setInterval(() => {
      const taken = batch
      batch = []
      const fresh = taken.filter(({ isNew }) => isNew).length
      state.perSecond.value = Math.round((fresh * 1000) / BATCH_MS)
      unannounced += fresh
      if (taken.length > 0) onBatch(taken)
      if (unannounced === 0 || Date.now() - announcedAt < ANNOUNCE_MS) return
      state.announced.value = formatCount(unannounced, 'new event')
      announcedAt = Date.now()
      unannounced = 0
    }, BATCH_MS)
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [isOn])
  return state
}
