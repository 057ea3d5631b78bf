/**
 * The connections of a worker, remembered for a moment. Whoever parks a delivery does so on the
 * condition that the connection is still as it was remembered, so that being behind loses nothing.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import type { Connection } from '../items/connection.ts'
import type { Source } from '../items/source.ts'
import { type Destination, destinationOf, type OpenSecrets } from './destination.ts'
import type { WorkerSettings } from './settings.ts'

export interface SourceDestinations {
  /** Null if it was deleted. */
  source: Source | null
  /** Those that are not deleted. */
  destinations: Destination[]
}

export interface Destinations {
  ofSource(source: Pick<Source, 'sourceId' | 'userId'>): Promise<SourceDestinations>
  /** Also a deleted one; null if there never was one. */
  of(connection: Pick<Connection, 'connectionId' | 'sourceId'>): Promise<Destination | null>
  /** The next who asks is told what is stored. */
  forget(sourceId: string): void
  /** Lets go of what nobody has asked for in a while. */
  sweep(): void
}

/** What is read anew but has not changed is not prepared anew, for as long as somebody asks for it. */
const KEPT_MS = 60_000

interface Remembered<T> {
  value: Promise<T>
  readAt: number
}

export function createDestinations({
  db,
  clock,
  open,
  settings: { rememberMs, concurrency },
}: {
  db: Pick<DataLayer, 'connections' | 'sources'>
  clock: Clock
  open: OpenSecrets
  settings: Pick<WorkerSettings, 'rememberMs' | 'concurrency'>
}): Destinations {
  const bySource = new Map<string, Remembered<SourceDestinations>>()
  const byId = new Map<string, Remembered<Destination | null>>()
  const prepared = new Map<string, { destination: Destination; usedAt: number }>()

  function prepare(connection: Connection): Destination {
    const { connectionId, rev } = connection
    const before = prepared.get(connectionId)?.destination
    const destination =
      before?.connection.rev === rev ? before : destinationOf(connection, { open, concurrency })
    prepared.set(connectionId, { destination, usedAt: clock.now() })
    return destination
  }

  function remember<T>(map: Map<string, Remembered<T>>, id: string, read: () => Promise<T>) {
    const known = map.get(id)
    if (known && isRecent(clock, known.readAt, rememberMs)) return known.value
    const entry = { value: read(), readAt: clock.now() }
    map.set(id, entry)
    // A failed read is not remembered.
    entry.value.catch(() => map.get(id) === entry && map.delete(id))
    return entry.value
  }

  return {
    ofSource: ({ sourceId, userId }) =>
      remember(bySource, sourceId, async () => {
        const [source, connections] = await Promise.all([
          db.sources.getOwned(sourceId, userId),
          db.connections.listBySource(sourceId),
        ])
        return { source, destinations: source ? connections.map(prepare) : [] }
      }),

    async of({ connectionId, sourceId }) {
      const known = bySource.get(sourceId)
      if (known && isRecent(clock, known.readAt, rememberMs)) {
        const { destinations } = await known.value
        const found = destinations.find((each) => each.connection.connectionId === connectionId)
        if (found) return found
      }
      return remember(byId, connectionId, async () => {
        const connection = await db.connections.get(connectionId, sourceId)
        return connection && prepare(connection)
      })
    },

    forget(sourceId) {
      bySource.delete(sourceId)
      byId.clear()
    },

    sweep() {
      for (const map of [bySource, byId]) {
        for (const [id, { readAt }] of map) if (!isRecent(clock, readAt, rememberMs)) map.delete(id)
      }
      for (const [id, { usedAt }] of prepared) {
        if (!isRecent(clock, usedAt, KEPT_MS)) prepared.delete(id)
      }
    },
  }
}
