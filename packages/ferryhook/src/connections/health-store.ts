/**
 * The health of a connection: its counts, since when it has been failing, and the reactions to that.
 * Counts do not increment `rev`, because they do not change how the connection is delivered to.
 */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { type Connection, ConnectionItem, connectionKey } from './item.ts'
import { mainTable } from '../tables.ts'
import { validateChanges } from '../storage/update-expression.ts'
import type { StoreDeps } from '../stores.ts'
import { exists } from '../storage/conditions.ts'
import { isoNow } from '../storage/time.ts'

type ConnectionId = Pick<Connection, 'connectionId' | 'sourceId'>

/** Outcomes since the last write. */
export interface OutcomeCounts {
  /** Finished deliveries. */
  delivered: number
  failed: number
  /** Whether any attempt succeeded. */
  succeeded: boolean
  /** Failed attempts since the last success, and when the first of them was made. */
  failedAttempts: number
  firstFailureAt?: number | undefined
}

export function createConnectionHealthStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
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
    /** Adds outcomes in one write. Returns the updated connection, or undefined if it was deleted. */
    async add(connection: ConnectionId, outcomes: OutcomeCounts): Promise<Connection | undefined> {
      const { delivered, failed, succeeded, failedAttempts, firstFailureAt } = outcomes
      const key = connectionKey.of(connection)
      validateChanges(mainTable, ConnectionItem, key, {
        deliveryCount: delivered,
        failureCount: failed,
        failedAttempts,
      })
      const { attr } = connections
      const counts = expr`ADD ${attr('deliveryCount')} ${delivered}, ${attr('failureCount')} ${failed}`
      const [since, attempts] = [attr('failingSince'), attr('failedAttempts')]
      let change = counts
      if (firstFailureAt !== undefined) {
        const from = new Date(firstFailureAt).toISOString()
        change = succeeded
          ? expr`${counts} SET ${since} = ${from}, ${attempts} = ${failedAttempts} REMOVE ${attr('warnedAt')}`
          : expr`${counts}, ${attempts} ${failedAttempts} SET ${since} = if_not_exists(${since}, ${from})`
      } else if (succeeded) {
        change = expr`${counts} REMOVE ${since}, ${attempts}, ${attr('warnedAt')}`
      }
      return unlessConflict(connections.update(key, change, exists))
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
