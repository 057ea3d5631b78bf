/**
 * The health of a connection: since when it has been failing, and the reactions to that. Its counts
 * are written along. None of this increments `rev`, because it does not change how the connection is
 * delivered to.
 */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { all, expr } from '@strongroom/kit/expression'
import type { ConnectionActivityStore } from './activity-store.ts'
import { type Connection, ConnectionItem, connectionKey } from './item.ts'
import { mainTable } from '../tables.ts'
import { validateChanges } from '../storage/update-expression.ts'
import type { StoreDeps } from '../stores.ts'
import { equalsOrAbsent, exists } from '../storage/conditions.ts'
import { isoNow } from '../storage/time.ts'

type ConnectionId = Pick<Connection, 'connectionId' | 'sourceId'>

/** Outcomes since the last write. */
export interface OutcomeCounts {
  /** Whether any attempt succeeded. */
  succeeded: boolean
  /** Failed attempts since the last success, and when the first of them was made. */
  failedAttempts: number
  firstFailureAt?: number | undefined
  /** The last success, in milliseconds. */
  lastDeliveredAt?: number | undefined
}

export function createConnectionHealthStore({
  db,
  clock,
  activity,
}: Pick<StoreDeps, 'db' | 'clock'> & { activity: Pick<ConnectionActivityStore, 'counts'> }) {
  const connections = entity(db, mainTable, ConnectionItem)
  const active = expr`${connections.attr('status')} = ${'active'}`

  /** Undefined if the condition failed: another writer was first, or the connection was deleted. */
  async function unlessConflict<T>(change: Promise<T>): Promise<T | undefined> {
    return change.catch((error: unknown) => {
      if (error instanceof ConditionFailed) return undefined
      throw error
    })
  }

  return {
    /**
     * Adds outcomes and updates the counts in one write. Returns the updated connection, or undefined
     * if it was deleted.
     */
    async add(connection: ConnectionId, outcomes: OutcomeCounts): Promise<Connection | undefined> {
      const { succeeded, failedAttempts, firstFailureAt, lastDeliveredAt } = outcomes
      const key = connectionKey.of(connection)
      validateChanges(mainTable, ConnectionItem, key, { failedAttempts })
      const { attr } = connections
      const [since, attempts] = [attr('failingSince'), attr('failedAttempts')]
      return retryOnConflict(async () => {
        const before = await connections.get(key)
        if (!before) return undefined
        const counts = await activity.counts(connection.connectionId)
        const { delivered, failed } = before.countedEnds ?? { delivered: 0, failed: 0 }
        const [deliveries, failures] = [counts.delivered - delivered, counts.failed - failed]
        const counted = expr`SET ${attr('countedEnds')} = ${{ ...counts }}`
        const set =
          lastDeliveredAt === undefined
            ? counted
            : expr`${counted}, ${attr('lastDeliveredAt')} = ${latest(before, lastDeliveredAt)}`
        const add = expr`ADD ${attr('deliveryCount')} ${deliveries}, ${attr('failureCount')} ${failures}`
        let change = expr`${set} ${add}`
        if (firstFailureAt !== undefined) {
          const from = new Date(firstFailureAt).toISOString()
          change = succeeded
            ? expr`${set}, ${since} = ${from}, ${attempts} = ${failedAttempts} ${add} REMOVE ${attr('warnedAt')}`
            : expr`${set}, ${since} = if_not_exists(${since}, ${from}) ${add}, ${attempts} ${failedAttempts}`
        } else if (succeeded) {
          change = expr`${change} REMOVE ${since}, ${attempts}, ${attr('warnedAt')}`
        }
        const uncounted = equalsOrAbsent(attr('countedEnds'), before.countedEnds)
        return connections.update(key, change, all(exists, uncounted))
      })
    },

    /** True for one of several concurrent callers, so that the owner is notified once. */
    async warn({ failingSince, ...connection }: Connection): Promise<boolean> {
      if (failingSince === undefined) return false
      const { attr } = connections
      const stillFailing = expr`${attr('failingSince')} = ${failingSince} AND attribute_not_exists(${attr('warnedAt')})`
      const change = expr`SET ${attr('warnedAt')} = ${isoNow(clock)}`
      const condition = all(active, stillFailing)
      return !!(await unlessConflict(
        connections.update(connectionKey.of(connection), change, condition),
      ))
    },

    /**
     * Pauses an active connection on behalf of Ferryhook. True for one of several concurrent callers.
     * Does nothing if the connection was changed since it was read: the owner may have fixed it.
     */
    async pause(
      connection: ConnectionId & Pick<Connection, 'rev'>,
      statusReason: string,
    ): Promise<boolean> {
      const { attr } = connections
      const key = connectionKey.of(connection)
      validateChanges(mainTable, ConnectionItem, key, { statusReason })
      const change = expr`SET ${attr('status')} = ${'paused'}, ${attr('statusReason')} = ${statusReason}, ${attr('updatedAt')} = ${isoNow(clock)} ADD ${attr('rev')} ${1}`
      const unchanged = all(active, expr`${attr('rev')} = ${connection.rev}`)
      return !!(await unlessConflict(connections.update(key, change, unchanged)))
    },
  }
}

export type ConnectionHealthStore = ReturnType<typeof createConnectionHealthStore>

/** Workers write in any order. */
function latest({ lastDeliveredAt = '' }: Connection, ms: number): string {
  const at = new Date(ms).toISOString()
  return at > lastDeliveredAt ? at : lastDeliveredAt
}
