/**
 * What deliveries report about a connection: how many have ended, and whether a worker's circuit
 * breaker is open. Counted in the transaction that ends a delivery, so a crash loses no count, and
 * spread over many items, because one for each connection would be a hot key.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { queryPage } from '@strongroom/kit/paging'
import { startsWith } from '../storage/conditions.ts'
import { isUnexpired } from '../storage/time.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import {
  type Circuit,
  CircuitItem,
  circuitKey,
  type Connection,
  type EndCounts,
  EndCountItem,
  endCountKey,
} from './item.ts'

/** `half_open`: the next attempt is a probe, and its result decides. */
export interface CircuitState {
  state: 'open' | 'half_open'
  /** In milliseconds, like `nextAttemptAt`. */
  since: number
  nextAttemptAt: number
}

/** A connection with its current counts. */
export type CurrentConnection = Connection & { circuit?: CircuitState | undefined }

/** A worker that crashed with an open breaker is not believed for longer than this. */
const CIRCUIT_RETENTION_SECONDS = 600

const TableName = eventsTable.name

export function createConnectionActivityStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const ends = entity(db, eventsTable, EndCountItem)
  const circuits = entity(db, eventsTable, CircuitItem)

  /** Everything about a connection is in one partition, so that one query reads it. */
  async function read(connectionId: string): Promise<{ counts: EndCounts; circuits: Circuit[] }> {
    const { PK } = endCountKey.of({ connectionId, slot: '' })
    const key = startsWith({ PK, SK: 'C' })
    const { items } = await queryPage(db, eventsTable, { key }, (item) => item)
    const counts = { delivered: 0, failed: 0 }
    const open: Circuit[] = []
    for (const item of items) {
      if ('workerId' in item) {
        open.push(circuits.parse(item))
        continue
      }
      const { delivered = 0, failed = 0 } = ends.parse(item)
      counts.delivered += delivered
      counts.failed += failed
    }
    return { counts, circuits: open.filter((circuit) => isUnexpired(clock, circuit)) }
  }

  async function circuitOf(connectionId: string): Promise<CircuitState | undefined> {
    return merge((await read(connectionId)).circuits, clock.now())
  }

  return {
    counts: async (connectionId: string): Promise<EndCounts> => (await read(connectionId)).counts,

    circuitOf,

    /** With the deliveries that ended since the stored counts were updated. */
    async current(connection: Connection): Promise<CurrentConnection> {
      const { counts, circuits: open } = await read(connection.connectionId)
      const { delivered = 0, failed = 0 } = connection.countedEnds ?? {}
      return {
        ...connection,
        deliveryCount: connection.deliveryCount + Math.max(0, counts.delivered - delivered),
        failureCount: connection.failureCount + Math.max(0, counts.failed - failed),
        circuit: merge(open, clock.now()),
      }
    },

    /** A part of the transaction that ends a delivery. Not validated: it repeats values of its task. */
    countPart(
      { connectionId, eventId }: { connectionId: string; eventId: string },
      state: keyof EndCounts,
    ): TransactWriteItem {
      // Ids end in one of 64 characters, so concurrent deliveries rarely meet at one item.
      const { PK, SK } = endCountKey.of({ connectionId, slot: eventId.slice(-1) })
      return {
        Update: {
          TableName,
          Key: { PK, SK },
          UpdateExpression: `SET connectionId = :connection ADD ${state} :one`,
          ExpressionAttributeValues: { ':connection': connectionId, ':one': 1 },
        },
      }
    },

    /** Records that the breaker of a worker is open. True if that of no other worker is. */
    async openCircuit(
      circuit: Pick<Circuit, 'connectionId' | 'workerId' | 'since' | 'nextAttemptAt'>,
    ): Promise<boolean> {
      const expiresAt = Math.ceil(circuit.nextAttemptAt / 1000) + CIRCUIT_RETENTION_SECONDS
      await circuits.put({ ...circuitKey.of(circuit), ...circuit, expiresAt })
      const { circuits: open } = await read(circuit.connectionId)
      return open.every(({ workerId }) => workerId === circuit.workerId)
    },

    /** Records that it is closed. True if that of no other worker is open. */
    async closeCircuit(circuit: Pick<Circuit, 'connectionId' | 'workerId'>): Promise<boolean> {
      await circuits.delete(circuitKey.of(circuit))
      return (await read(circuit.connectionId)).circuits.length === 0
    },

    async purge(connectionId: string): Promise<void> {
      const { PK } = endCountKey.of({ connectionId, slot: '' })
      const key = startsWith({ PK, SK: 'C' })
      const { items } = await queryPage(db, eventsTable, { key }, (item) => item)
      for (const item of items) {
        if ('workerId' in item) await circuits.delete(circuitKey.of(circuits.parse(item)))
        else await ends.delete({ PK, SK: ends.parse(item).SK })
      }
    },
  }
}

export type ConnectionActivityStore = ReturnType<typeof createConnectionActivityStore>

/** Workers have a breaker each: the earliest probe is the next attempt. */
function merge(circuits: readonly Circuit[], now: number): CircuitState | undefined {
  if (circuits.length === 0) return undefined
  const nextAttemptAt = Math.min(...circuits.map((circuit) => circuit.nextAttemptAt))
  const since = Math.min(...circuits.map((circuit) => circuit.since))
  return { state: nextAttemptAt > now ? 'open' : 'half_open', since, nextAttemptAt }
}
