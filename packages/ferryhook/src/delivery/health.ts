/**
 * How the connections of a worker fare, added to the store in batches: one write for each attempt
 * would be a hot key. What is not added yet when a worker dies is lost; it decides nothing at once.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { Alerts } from '../alerts/alert.ts'
import type { Outcomes } from '../db/connection-health.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { Connection } from '../items/connection.ts'
import type { HealthSettings } from './settings.ts'

type About = Pick<Connection, 'userId' | 'sourceId' | 'connectionId' | 'rev'>

export interface Health {
  /** An attempt to it ended so; undefined if that says nothing of it. */
  attempted(connection: About, end: 'delivered' | 'failed' | undefined): void
  /** A delivery to it came to its end. */
  ended(connection: About, state: 'delivered' | 'failed', deliveries?: number): void
  /** Pauses it at once, if it is still as it was seen. */
  pause(connection: About, reason: string): Promise<void>
  /** Adds what there is and looks what follows from it; what fails is tried the next time. */
  flush(): Promise<void>
}

const nothing: Outcomes = { delivered: 0, failed: 0, succeeded: false, failedAttempts: 0 }

export function createHealth({
  db,
  clock,
  log,
  alerts,
  settings,
  onOutdated,
}: {
  db: Pick<DataLayer, 'connectionHealth'>
  clock: Clock
  log: Log
  alerts: Alerts
  settings: HealthSettings
  /** It is paused now, or was changed otherwise. */
  onOutdated(connection: About): void
}): Health {
  let noted = new Map<string, { connection: About; outcomes: Outcomes }>()

  function note(connection: About, outcomes: Partial<Outcomes>, order: 'after' | 'before'): void {
    const { connectionId } = connection
    const known = noted.get(connectionId)?.outcomes ?? nothing
    const given = { ...nothing, ...outcomes }
    const both = order === 'after' ? joined(known, given) : joined(given, known)
    noted.set(connectionId, { connection, outcomes: both })
  }

  async function pause(connection: About, reason: string): Promise<void> {
    const paused = await db.connectionHealth.pause(connection, reason)
    onOutdated(connection)
    if (!paused) return
    const { userId, sourceId, connectionId } = connection
    alerts.raise({ kind: 'connection.paused', userId, sourceId, connectionId, reason })
  }

  async function look(connection: Connection): Promise<void> {
    const { userId, sourceId, connectionId, status, warnedAt } = connection
    const { failingSince, failedAttempts = 0 } = connection
    if (status !== 'active' || failingSince === undefined) return
    const failingMs = clock.now() - Date.parse(failingSince)
    if (warnedAt === undefined) {
      if (failingMs < settings.warnAfterMs || failedAttempts < settings.warnAttempts) return
      const about = { userId, sourceId, connectionId, failingSince, failedAttempts }
      if (await db.connectionHealth.warn(connection)) {
        alerts.raise({ kind: 'connection.warning', ...about })
      }
      return
    }
    const warnedMs = clock.now() - Date.parse(warnedAt)
    if (failingMs < settings.pauseAfterMs || failedAttempts < settings.pauseAttempts) return
    if (warnedMs >= settings.warnedForMs) await pause(connection, 'failing')
  }

  return {
    attempted(connection, end) {
      if (end === undefined) return
      const failure = { failedAttempts: 1, firstFailureAt: clock.now() }
      note(connection, end === 'delivered' ? { succeeded: true } : failure, 'after')
    },

    ended: (connection, state, deliveries = 1) =>
      note(connection, { [state]: deliveries }, 'after'),

    pause,

    async flush() {
      const batch = noted
      noted = new Map()
      await Promise.all(
        [...batch.values()].map(async ({ connection, outcomes }) => {
          try {
            const now = await db.connectionHealth.add(connection, outcomes)
            if (now) await look(now)
          } catch (error) {
            log.warn('Outcomes of a connection could not be added: they are kept', { error })
            note(connection, outcomes, 'before')
          }
        }),
      )
    },
  }
}

function joined(first: Outcomes, then: Outcomes): Outcomes {
  const [before, since] = then.succeeded ? [nothing, then] : [first, then]
  const firstFailureAt = before.firstFailureAt ?? since.firstFailureAt
  return {
    delivered: first.delivered + then.delivered,
    failed: first.failed + then.failed,
    succeeded: first.succeeded || then.succeeded,
    failedAttempts: before.failedAttempts + since.failedAttempts,
    ...(firstFailureAt !== undefined && { firstFailureAt }),
  }
}
