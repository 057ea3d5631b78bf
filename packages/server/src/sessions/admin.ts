/** What admins do about sessions and second factors of operators: for the routes and for commands. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import { Attr, expr } from '@strongroom/kit/expression'
import { scanAll } from '@strongroom/kit/paging'
import { secondFactorKey } from '@strongroom/kit/operator-item'
import { createOperatorSessions, type OperatorSession } from '@strongroom/kit/operator-sessions'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import { CONFLICT, retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import {
  createSecondFactorItems,
  isEnrolled,
  SecondFactorItem,
} from '@strongroom/kit/second-factor/item'
import { serverTable } from '@strongroom/kit/server-table'
import { transactParts } from '@strongroom/kit/transact'

export type SessionAdmin = ReturnType<typeof createSessionAdmin>

export function createSessionAdmin(deps: {
  db: Db
  clock: Clock
  auditLog: AuditLog
  operators: Operators
}) {
  const { db, clock, auditLog, operators } = deps
  const sessions = createOperatorSessions({ db, clock })
  const factors = createSecondFactorItems(db, serverTable, secondFactorKey)
  const [PK, SK] = [new Attr<string>(['PK']), new Attr<string>(['SK'])]

  /** Those that a request would still accept, newest first. Removes the others. */
  async function listOf(name: string): Promise<OperatorSession[]> {
    const identity = await operators.load(name)
    const now = epochSeconds(clock)
    const current: OperatorSession[] = []
    for (const session of await sessions.list(name)) {
      const isCurrent = session.expiresAt > now && session.mark === identity?.mark
      if (isCurrent) current.push(session)
      else await sessions.delete(name, session.sessionId)
    }
    return current.toSorted((a, b) => b.createdAt - a.createdAt)
  }

  /** Of these operators, or of all. */
  async function list(names?: readonly string[]): Promise<OperatorSession[]> {
    const all = names ?? (await operators.list()).map(({ name }) => name)
    const lists = await Promise.all(all.map(listOf))
    return lists.flat().toSorted((a, b) => b.createdAt - a.createdAt)
  }

  return {
    listOf,
    list,

    /** Ends a session of one of these operators, or of all. Throws `session_not_found`. */
    async revoke(by: AuditActor, sessionId: string, names?: readonly string[]): Promise<void> {
      const session = (await list(names)).find((each) => each.sessionId === sessionId)
      // Sessions of others do not exist for an operator who may not see them.
      if (!session) throw operatorError('session_not_found')
      const audited = auditLog.audited({
        ...by,
        action: 'server.session.revoked',
        target: sessionId,
        after: { operator: session.name },
      })
      const atStore = createOperatorSessions({ db: audited, clock })
      if (!(await atStore.delete(session.name, sessionId))) throw operatorError('session_not_found')
    },

    /** The names of the operators with a second factor. */
    async listEnrolled(): Promise<ReadonlySet<string>> {
      // A scan, because the table is small and only people read this.
      const filter = expr`begins_with(${PK}, ${'OPERATOR#'}) AND ${SK} = ${secondFactorKey('').SK}`
      const names = new Set<string>()
      for await (const item of scanAll(db, serverTable, { filter }, SecondFactorItem.parse)) {
        if (isEnrolled(item)) names.add(item.PK.slice('OPERATOR#'.length))
      }
      return names
    },

    /** Removes all factors of an operator who lost them, which ends its sessions. */
    async resetFactors(by: AuditActor, name: string): Promise<void> {
      if (by.actor === `operator:${name}`) throw operatorError('own_second_factor')
      const action = { ...by, action: 'server.operator.second_factor_reset', target: name }
      await retryOnConflict(async () => {
        const identity = await operators.load(name)
        if (!identity) throw operatorError('not_found')
        const before = await factors.load(name)
        if (!isEnrolled(before)) throw secondFactorError('not_enrolled')
        const { kind } = await transactParts(auditLog.audited(action), {
          factors: factors.replacePart(name, before, undefined),
          operator: operators.endSessionsPart(identity).part,
        })
        return kind === 'done' ? undefined : CONFLICT
      })
    },
  }
}
