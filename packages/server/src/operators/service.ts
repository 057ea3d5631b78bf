/** Changes of operators, each with an entry in the audit log: for the routes and for commands. */
import type { Clock } from '@strongroom/platform/clock'
import type { AuditActor, AuditedWrite, AuditLog } from '@strongroom/kit/audit-log'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import type { Operator } from '@strongroom/kit/operator-item'
import { createOperatorSessions, type SessionClient } from '@strongroom/kit/operator-sessions'
import {
  auditedOperator,
  createOperators,
  type OperatorChange,
  operatorError,
  type OperatorGrant,
} from '@strongroom/kit/operators'
import { type BootstrapCode, createBootstrapCodes, FIRST_ADMIN } from './bootstrap.ts'

export type OperatorService = ReturnType<typeof createOperatorService>

export function createOperatorService(deps: { db: Db; clock: Clock; auditLog: AuditLog }) {
  const { clock, auditLog } = deps
  const operators = createOperators(deps)

  function operatorsAs(
    by: AuditActor,
    action: string,
    target: string,
    described: Pick<AuditedWrite, 'after' | 'item'> = {},
  ) {
    const change = { ...by, action: `server.operator.${action}`, target, ...described }
    return createOperators({ db: auditLog.audited(change), clock })
  }

  async function get(name: string): Promise<Operator> {
    const operator = await operators.get(name)
    if (!operator) throw operatorError('not_found')
    return operator
  }

  return {
    get,
    list: operators.list,

    /** Returns the token, which is never shown again. */
    add(by: AuditActor, name: string, grant: OperatorGrant): Promise<string> {
      const { role = 'admin', services, expiresAt } = grant
      const after = toAuditedFields({ role, services, expiresAt })
      return operatorsAs(by, 'added', name, { after }).add(name, grant)
    },

    change(by: AuditActor, name: string, change: OperatorChange): Promise<Operator> {
      const item = auditedOperator(name, (before) => {
        const { role = before.role, services, expiresAt } = change
        const after = {
          role,
          services: services === undefined ? before.services : (services ?? undefined),
          expiresAt: expiresAt === undefined ? before.expiresAt : (expiresAt ?? undefined),
        }
        return { before: toAuditedFields(before), after: toAuditedFields(after) }
      })
      return operatorsAs(by, 'changed', name, { item }).change(name, change)
    },

    /** Returns the new token. */
    rotate: (by: AuditActor, name: string): Promise<string> =>
      operatorsAs(by, 'rotated', name).rotate(name),

    remove(by: AuditActor, name: string): Promise<void> {
      const item = auditedOperator(name, (before) => ({ before: toAuditedFields(before) }))
      return operatorsAs(by, 'removed', name, { item }).remove(name)
    },

    /** Creates a bootstrap code; the one before it becomes invalid. */
    createCode(by: AuditActor): Promise<BootstrapCode> {
      const db = auditLog.audited({ ...by, action: 'server.bootstrap.created' })
      return createBootstrapCodes({ db, clock }).create()
    },

    /** Creates a bootstrap code if there is no admin that could add operators. */
    async createCodeIfNeeded(by: AuditActor): Promise<BootstrapCode | undefined> {
      const isNeeded = await createBootstrapCodes(deps).isNeeded()
      return isNeeded ? this.createCode(by) : undefined
    },

    /** Exchanges a bootstrap code for the token of a new admin, which is never shown again. */
    claimCode(
      address: string | undefined,
      code: string,
      name: string = FIRST_ADMIN,
      sessionPart?: (mark: string) => TransactWriteItem,
    ) {
      const db = auditLog.audited({
        actor: `operator:${name}`,
        address,
        action: 'server.bootstrap.claimed',
        target: name,
        after: { role: 'admin' },
      })
      return createBootstrapCodes({ db, clock }).claim(code, name, sessionPart)
    },

    /** The same for a browser, which is signed in by the same write. */
    async claimSession(client: SessionClient, code: string, name: string) {
      const sessions = createOperatorSessions({ db: deps.db, clock })
      let value = ''
      const claimed = await this.claimCode(client.address, code, name, (mark) => {
        const begun = sessions.createPart({ ...client, name, mark, secondFactor: false })
        value = begun.value
        return begun.part
      })
      return { ...claimed, value }
    },

    /** Whether nobody can add operators yet. */
    needsAdmin: () => createBootstrapCodes(deps).isNeeded(),
  }
}

function toAuditedFields({
  role,
  services,
  expiresAt,
}: Pick<Operator, 'role' | 'services' | 'expiresAt'>) {
  const expiry = expiresAt === undefined ? null : new Date(expiresAt * 1000).toISOString()
  return { role, services: services ?? null, expiresAt: expiry }
}
