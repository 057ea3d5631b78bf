/**
 * Collects the results of attempts and writes them in batches, because one write for each attempt
 * would make a hot key. A crash loses the last batch, which only delays a warning or a pause. Open
 * circuit breakers are written immediately, so that every process can show them.
 */
import type { Clock } from '@strongroom/platform/clock'
import { newId } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import type { Alerts } from '../alerts/alert.ts'
import type { OutcomeCounts } from '../connections/health-store.ts'
import type { Stores } from '../stores.ts'
import type { Connection } from '../connections/item.ts'
import type { HealthConfig } from './config.ts'

type ConnectionRef = Pick<Connection, 'userId' | 'sourceId' | 'connectionId' | 'name' | 'rev'>

export interface HealthTracker {
  /** Records the result of an attempt; undefined records nothing. */
  attempted(connection: ConnectionRef, end: 'delivered' | 'failed' | undefined): void
  /** Deliveries have ended; the next batch updates the counts of the connection. */
  ended(connection: ConnectionRef): void
  /** The breaker of this worker is open until a time, or closed. Never rejects. */
  circuitChanged(connection: ConnectionRef, openUntil: number | undefined): Promise<void>
  /** Pauses it now, if it is unchanged. */
  pause(connection: ConnectionRef, reason: string): Promise<void>
  /** Writes the batch, then warns or pauses where needed. Failed writes are retried by the next call. */
  flush(): Promise<void>
  /** Writes the batch. The breakers of this worker end with it. */
  close(): Promise<void>
}

const zeroCounts: OutcomeCounts = { succeeded: false, failedAttempts: 0 }

export function createHealthTracker({
  stores,
  clock,
  log,
  alerts,
  config,
  onOutdated,
}: {
  stores: Pick<Stores, 'connectionHealth' | 'connectionActivity'>
  clock: Clock
  log: Log
  alerts: Alerts
  config: HealthConfig
  /** The connection was paused or changed. */
  onOutdated(connection: ConnectionRef): void
}): HealthTracker {
  let batch = new Map<string, { connection: ConnectionRef; outcomes: OutcomeCounts }>()
  const workerId = newId('wrk')
  /** By connection: since when the breaker of this worker is open, and the last write about it. */
  const circuits = new Map<string, { since: number | undefined; written: Promise<void> }>()

  async function writeCircuit(
    connection: ConnectionRef,
    { since, openUntil, isNew }: { since: number; openUntil: number | undefined; isNew: boolean },
  ): Promise<void> {
    const { userId, sourceId, connectionId, name: connectionName } = connection
    const about = { userId, sourceId, connectionId, connectionName }
    const id = { connectionId, workerId }
    if (openUntil === undefined) {
      const isLast = await stores.connectionActivity.closeCircuit(id)
      if (isLast) alerts.raise({ kind: 'connection.circuit_closed', ...about })
      return
    }
    const circuit = { ...id, since, nextAttemptAt: openUntil }
    const isFirst = await stores.connectionActivity.openCircuit(circuit)
    if (!isFirst || !isNew) return
    const nextAttemptAt = new Date(openUntil).toISOString()
    alerts.raise({ kind: 'connection.circuit_opened', ...about, nextAttemptAt })
  }

  function record(
    connection: ConnectionRef,
    outcomes: Partial<OutcomeCounts>,
    order: 'after' | 'before',
  ): void {
    const { connectionId } = connection
    const earlier = batch.get(connectionId)?.outcomes ?? zeroCounts
    const added = { ...zeroCounts, ...outcomes }
    const combined = order === 'after' ? combine(earlier, added) : combine(added, earlier)
    batch.set(connectionId, { connection, outcomes: combined })
  }

  async function pause(connection: ConnectionRef, reason: string): Promise<void> {
    const paused = await stores.connectionHealth.pause(connection, reason)
    onOutdated(connection)
    if (!paused) return
    const { userId, sourceId, connectionId, name: connectionName } = connection
    const about = { userId, sourceId, connectionId, connectionName }
    alerts.raise({ kind: 'connection.paused', ...about, reason })
  }

  async function warnOrPause(connection: Connection): Promise<void> {
    const { userId, sourceId, connectionId, name: connectionName, status, warnedAt } = connection
    const { failingSince, failedAttempts = 0 } = connection
    if (status !== 'active' || failingSince === undefined) return
    const failingMs = clock.now() - Date.parse(failingSince)
    if (warnedAt === undefined) {
      if (failingMs < config.warnAfterMs || failedAttempts < config.warnAttempts) return
      const about = { userId, sourceId, connectionId, connectionName, failingSince, failedAttempts }
      if (await stores.connectionHealth.warn(connection)) {
        alerts.raise({ kind: 'connection.warning', ...about })
      }
      return
    }
    const warnedMs = clock.now() - Date.parse(warnedAt)
    if (failingMs < config.pauseAfterMs || failedAttempts < config.pauseAttempts) return
    if (warnedMs >= config.warnedForMs) await pause(connection, 'failing')
  }

  return {
    attempted(connection, end) {
      if (end === undefined) return
      const now = clock.now()
      const success = { succeeded: true, lastDeliveredAt: now }
      const failure = { failedAttempts: 1, firstFailureAt: now }
      record(connection, end === 'delivered' ? success : failure, 'after')
    },

    ended: (connection) => record(connection, {}, 'after'),

    circuitChanged(connection, openUntil) {
      const { connectionId } = connection
      const before = circuits.get(connectionId)
      const { since = clock.now() } = before ?? {}
      const isNew = before?.since === undefined
      const written = (before?.written ?? Promise.resolve())
        .then(() => writeCircuit(connection, { since, openUntil, isNew }))
        .catch((error: unknown) => log.warn('state of a circuit breaker not written', { error }))
      const entry = { since: openUntil === undefined ? undefined : since, written }
      circuits.set(connectionId, entry)
      return written.finally(() => {
        const isLast = circuits.get(connectionId) === entry
        if (isLast && openUntil === undefined) circuits.delete(connectionId)
      })
    },

    pause,

    flush,

    async close() {
      await flush()
      for (const [connectionId, { since }] of circuits) {
        const id = { connectionId, workerId }
        if (since !== undefined) await stores.connectionActivity.closeCircuit(id)
      }
    },
  }

  async function flush(): Promise<void> {
    const flushed = batch
    batch = new Map()
    await Promise.all(
      [...flushed.values()].map(async ({ connection, outcomes }) => {
        try {
          const now = await stores.connectionHealth.add(connection, outcomes)
          if (now) await warnOrPause(now)
        } catch (error) {
          log.warn('results of a connection not written, retrying', { error })
          record(connection, outcomes, 'before')
        }
      }),
    )
  }
}

function combine(first: OutcomeCounts, then: OutcomeCounts): OutcomeCounts {
  const [before, since] = then.succeeded ? [zeroCounts, then] : [first, then]
  const firstFailureAt = before.firstFailureAt ?? since.firstFailureAt
  const lastDeliveredAt = then.lastDeliveredAt ?? first.lastDeliveredAt
  return {
    succeeded: first.succeeded || then.succeeded,
    failedAttempts: before.failedAttempts + since.failedAttempts,
    ...(firstFailureAt !== undefined && { firstFailureAt }),
    ...(lastDeliveredAt !== undefined && { lastDeliveredAt }),
  }
}
