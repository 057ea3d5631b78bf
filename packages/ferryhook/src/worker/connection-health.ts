/**
 * Collects the results of attempts and writes them in batches, because one write for each attempt
 * would make a hot key. A crash loses the last batch, which only delays a warning or a pause.
 */
import type { Clock } from '@strongroom/platform/clock'
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
  /** Records deliveries that have ended. */
  ended(connection: ConnectionRef, state: 'delivered' | 'failed', deliveries?: number): void
  /** Pauses it now, if it is unchanged. */
  pause(connection: ConnectionRef, reason: string): Promise<void>
  /** Writes the batch, then warns or pauses where needed. Failed writes are retried by the next call. */
  flush(): Promise<void>
}

const zeroCounts: OutcomeCounts = { delivered: 0, failed: 0, succeeded: false, failedAttempts: 0 }

export function createHealthTracker({
  stores,
  clock,
  log,
  alerts,
  config,
  onOutdated,
}: {
  stores: Pick<Stores, 'connectionHealth'>
  clock: Clock
  log: Log
  alerts: Alerts
  config: HealthConfig
  /** The connection was paused or changed. */
  onOutdated(connection: ConnectionRef): void
}): HealthTracker {
  let batch = new Map<string, { connection: ConnectionRef; outcomes: OutcomeCounts }>()

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
      const failure = { failedAttempts: 1, firstFailureAt: clock.now() }
      record(connection, end === 'delivered' ? { succeeded: true } : failure, 'after')
    },

    ended: (connection, state, deliveries = 1) =>
      record(connection, { [state]: deliveries }, 'after'),

    pause,

    async flush() {
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
    },
  }
}

function combine(first: OutcomeCounts, then: OutcomeCounts): OutcomeCounts {
  const [before, since] = then.succeeded ? [zeroCounts, then] : [first, then]
  const firstFailureAt = before.firstFailureAt ?? since.firstFailureAt
  return {
    delivered: first.delivered + then.delivered,
    failed: first.failed + then.failed,
    succeeded: first.succeeded || then.succeeded,
    failedAttempts: before.failedAttempts + since.failedAttempts,
    ...(firstFailureAt !== undefined && { firstFailureAt }),
  }
}
