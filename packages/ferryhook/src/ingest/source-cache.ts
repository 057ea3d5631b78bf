/**
 * Remembers sources, so that an event costs no read. What is changed in this process is forgotten at
 * once; what is changed elsewhere is seen after a minute.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { KnownSource } from './known-source.ts'

const REMEMBERED_MS = 60_000
/** Short, because a source that was made or resumed elsewhere should not have to wait. */
const ABSENCE_REMEMBERED_MS = 2_000

/** Of those that are not there anybody can make up as many as they like. */
const MOST_SOURCES = 10_000
const MOST_ABSENCES = 10_000

const SOURCE_ID = /^src_[A-Za-z0-9_-]{16}$/

interface Remembered {
  known: KnownSource
  readAt: number
}

export type SourceCache = ReturnType<typeof createSourceCache>

export function createSourceCache({
  clock,
  read,
}: {
  clock: Clock
  read: (sourceId: string) => Promise<KnownSource | null>
}) {
  const sources = new Map<string, Remembered>()
  const absent = new Map<string, number>()
  const reading = new Map<string, Promise<KnownSource | null>>()

  function keep(sourceId: string, known: KnownSource | null): void {
    const readAt = clock.now()
    sources.delete(sourceId)
    if (known) put(sources, MOST_SOURCES, sourceId, { known, readAt })
    else put(absent, MOST_ABSENCES, sourceId, readAt)
  }

  function readOnce(sourceId: string): Promise<KnownSource | null> {
    const underWay = reading.get(sourceId)
    if (underWay) return underWay
    // One that was forgotten meanwhile may have been read before it was changed: it is not kept.
    const isCurrent = () => reading.get(sourceId) === mine
    const mine = read(sourceId)
      .then((known) => {
        if (isCurrent()) keep(sourceId, known)
        return known
      })
      .finally(() => void (isCurrent() && reading.delete(sourceId)))
    reading.set(sourceId, mine)
    return mine
  }

  return {
    /** Null if there is no such source, or it takes no events. */
    async get(sourceId: string): Promise<KnownSource | null> {
      const remembered = sources.get(sourceId)
      if (remembered && isRecent(clock, remembered.readAt, REMEMBERED_MS)) return remembered.known
      const absentAt = absent.get(sourceId)
      if (absentAt !== undefined && isRecent(clock, absentAt, ABSENCE_REMEMBERED_MS)) return null
      if (!SOURCE_ID.test(sourceId)) return null
      return readOnce(sourceId)
    },

    forget(sourceId: string): void {
      sources.delete(sourceId)
      absent.delete(sourceId)
      reading.delete(sourceId)
    },

    /** All sources of a user, whose plan may be another now. */
    forgetUser(userId: string): void {
      for (const [sourceId, { known }] of sources) {
        if (known.source.userId === userId) sources.delete(sourceId)
      }
      // Whose those are that are being read is not known yet.
      reading.clear()
    },
  }
}

/** The oldest makes room. */
function put<T>(map: Map<string, T>, most: number, id: string, value: T): void {
  map.delete(id)
  const [oldest] = map.keys()
  if (map.size >= most && oldest !== undefined) map.delete(oldest)
  map.set(id, value)
}
