/**
 * Caches connections for a second. Parking requires that the connection is unchanged, so a stale
 * entry loses nothing.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { Stores } from '../stores.ts'
import type { Connection } from '../connections/item.ts'
import type { Source } from '../sources/item.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { createDestination, type Destination, type OpenSecrets } from './destination.ts'
import type { WorkerConfig } from './config.ts'

export interface SourceDestinations {
  /** Null if the source was deleted. */
  source: Source | null
  /** Without deleted connections. */
  destinations: Destination[]
}

export interface DestinationCache {
  forSource(source: Pick<Source, 'sourceId' | 'userId'>): Promise<SourceDestinations>
  /** Also returns a deleted connection; null if it never existed. */
  get(connection: Pick<Connection, 'connectionId' | 'sourceId'>): Promise<Destination | null>
  /** The next call reads the source and its connections again. */
  invalidate(sourceId: string): void
  evictStale(): void
}

/** An unchanged connection is not parsed again while it was used within this time. */
const PARSED_CACHE_MS = 60_000

interface Cached<T> {
  value: Promise<T>
  readAt: number
}

export function createDestinationCache({
  stores,
  clock,
  open,
  scheduler,
  config: { cacheMs, concurrency },
}: {
  stores: Pick<Stores, 'connections' | 'sources'>
  clock: Clock
  open: OpenSecrets
  scheduler: WorkScheduler
  config: Pick<WorkerConfig, 'cacheMs' | 'concurrency'>
}): DestinationCache {
  const bySource = new Map<string, Cached<SourceDestinations>>()
  const byId = new Map<string, Cached<Destination | null>>()
  const prepared = new Map<string, { destination: Destination; usedAt: number }>()

  async function prepare(connection: Connection): Promise<Destination> {
    const { connectionId, rev } = connection
    const before = prepared.get(connectionId)?.destination
    const destination = before?.connection.rev === rev ? before : await parse(connection)
    prepared.set(connectionId, { destination, usedAt: clock.now() })
    return destination
  }

  function parse(connection: Connection): Promise<Destination> {
    return createDestination(connection, { open, concurrency, clock, scheduler })
  }

  async function prepareAll(connections: readonly Connection[]): Promise<Destination[]> {
    const destinations: Destination[] = []
    for (const connection of connections) destinations.push(await prepare(connection))
    return destinations
  }

  function cache<T>(map: Map<string, Cached<T>>, id: string, read: () => Promise<T>) {
    const cached = map.get(id)
    if (cached && isRecent(clock, cached.readAt, cacheMs)) return cached.value
    const entry = { value: read(), readAt: clock.now() }
    map.set(id, entry)
    // Do not cache a failed read.
    entry.value.catch(() => map.get(id) === entry && map.delete(id))
    return entry.value
  }

  return {
    forSource: ({ sourceId, userId }) =>
      cache(bySource, sourceId, async () => {
        const [source, connections] = await Promise.all([
          stores.sources.getOwned(sourceId, userId),
          stores.connections.listBySource(sourceId),
        ])
        return { source, destinations: source ? await prepareAll(connections) : [] }
      }),

    async get({ connectionId, sourceId }) {
      const cached = bySource.get(sourceId)
      if (cached && isRecent(clock, cached.readAt, cacheMs)) {
        const { destinations } = await cached.value
        const found = destinations.find((each) => each.connection.connectionId === connectionId)
        if (found) return found
      }
      return cache(byId, connectionId, async () => {
        const connection = await stores.connections.get(connectionId, sourceId)
        return connection && prepare(connection)
      })
    },

    invalidate(sourceId) {
      bySource.delete(sourceId)
      byId.clear()
    },

    evictStale() {
      for (const map of [bySource, byId]) {
        for (const [id, { readAt }] of map) if (!isRecent(clock, readAt, cacheMs)) map.delete(id)
      }
      for (const [id, { usedAt }] of prepared) {
        if (!isRecent(clock, usedAt, PARSED_CACHE_MS)) prepared.delete(id)
      }
    },
  }
}
