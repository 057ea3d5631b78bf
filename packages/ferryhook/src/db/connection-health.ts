/**
 * How a connection fares: its counts, since when it has been failing, and what follows from that.
 * None of it raises `rev`: how often something failed is no reason to look at the connection again.
 */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { type Connection, ConnectionItem, connectionKey } from '../items/connection.ts'
import { mainTable } from '../table.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { isoNow } from './times.ts'

type Address = Pick<Connection, 'connectionId' | 'sourceId'>

/** What happened since the last time, in order. */
export interface Outcomes {
  /** Deliveries that came to an end. */
  delivered: number
  failed: number
  /** Whether any attempt succeeded. */
  succeeded: boolean
  /** Attempts that failed after the last success, and when the first of them was made. */
  failedAttempts: number
  firstFailureAt?: number | undefined
}

export function createConnectionHealth({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const connections = entity(db, mainTable, ConnectionItem)
  const exists = expr`attribute_exists(${connections.attr('PK')})`
  const active = expr`${connections.attr('status')} = ${'active'}`

  /** The condition of a change is no longer so: somebody else was faster, or it is gone. */
  async function unlessOvertaken<T>(change: Promise<T>): Promise<T | undefined> {
    return change.catch((error: unknown) => {
      if (error instanceof ConditionFailed) return undefined
      throw error
    })
  }

  return {
    /** Adds outcomes, many at once; the connection as it is now, or undefined if it is gone. */
    async add(connection: Address, outcomes: Outcomes): Promise<Connection | undefined> {
      const { delivered, failed, succeeded, failedAttempts, firstFailureAt } = outcomes
      const key = connectionKey.of(connection)
      requireFit(mainTable, ConnectionItem, key, {
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
      return unlessOvertaken(connections.update(key, change, exists))
    },

    /** True for one of all who warn at once: its owner is told once. */
    async warn({ failingSince, ...connection }: Connection): Promise<boolean> {
      if (failingSince === undefined) return false
      const { attr } = connections
      const stillFailing = expr`${attr('failingSince')} = ${failingSince} AND attribute_not_exists(${attr('warnedAt')})`
      const change = expr`SET ${attr('warnedAt')} = ${isoNow(clock)}`
      const condition = all(active, stillFailing)
      return !!(await unlessOvertaken(
        connections.update(connectionKey.of(connection), change, condition),
      ))
    },

    /**
     * Pauses an active connection for a reason of ours; true for one of all who do so at once. Not one
     * that was changed since it was seen: what was wrong with it may have been put right.
     */
    async pause(
      connection: Address & Pick<Connection, 'rev'>,
      statusReason: string,
    ): Promise<boolean> {
      const { attr } = connections
      const key = connectionKey.of(connection)
      requireFit(mainTable, ConnectionItem, key, { statusReason })
      const change = expr`SET ${attr('status')} = ${'paused'}, ${attr('statusReason')} = ${statusReason}, ${attr('updatedAt')} = ${isoNow(clock)} ADD ${attr('rev')} ${1}`
      const asSeen = all(active, expr`${attr('rev')} = ${connection.rev}`)
      return !!(await unlessOvertaken(connections.update(key, change, asSeen)))
    },
  }
}

export type ConnectionHealth = ReturnType<typeof createConnectionHealth>
