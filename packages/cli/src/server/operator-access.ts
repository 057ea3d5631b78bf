/** Access to operators, on the configured store or through a server. */
import type { Operator, OperatorRole } from '@strongroom/kit/operator-item'
import { createOperators, type OperatorChange, type OperatorGrant } from '@strongroom/kit/operators'
import { systemClock } from '@strongroom/platform/clock'
import { createOperatorService } from '@strongroom/server/operators/service'
import type { OperatorView } from '@strongroom/server/operators/view'
import { createSessionAdmin } from '@strongroom/server/sessions/admin'
import { toSessionView } from '@strongroom/server/sessions/session-view'
import type { SessionView } from '@strongroom/server/sessions/view'
import { type ApiClient, createOperatorClientIfRequested } from '../api-client.ts'
import type { CommandInput } from '../command.ts'
import { withAuditedStore } from './audited-store.ts'

export interface OperatorAccess {
  /** Returns the token. */
  add(name: string, grant: OperatorGrant & { role: OperatorRole }): Promise<string>
  change(name: string, change: OperatorChange): Promise<Operator>
  rotate(name: string): Promise<string>
  list(): Promise<Operator[]>
  remove(name: string): Promise<void>
  /** Of one operator, or of all. */
  sessions(name: string | undefined): Promise<SessionView[]>
  revokeSession(id: string): Promise<void>
  resetSecondFactor(name: string): Promise<void>
}

export async function withOperators<T>(
  input: CommandInput,
  work: (operators: OperatorAccess) => Promise<T>,
): Promise<T> {
  const api = createOperatorClientIfRequested(input, 'server')
  if (api) return work(remoteOperators(api))
  return withAuditedStore(input, [], async ({ store, auditLog, by }) => {
    const on = { db: store.db, clock: systemClock, auditLog }
    const operators = createOperatorService(on)
    const admin = createSessionAdmin({ ...on, operators: createOperators(on) })
    return work({
      add: (name, grant) => operators.add(by, name, grant),
      change: (name, change) => operators.change(by, name, change),
      rotate: (name) => operators.rotate(by, name),
      list: () => operators.list(),
      remove: (name) => operators.remove(by, name),
      async sessions(name) {
        if (name !== undefined) await operators.get(name)
        const found = await admin.list(name === undefined ? undefined : [name])
        return found.map((session) => toSessionView(session, undefined))
      },
      revokeSession: (id) => admin.revoke(by, id),
      resetSecondFactor: (name) => admin.resetFactors(by, name),
    })
  })
}

/** Over HTTP, with an admin's token. */
function remoteOperators(api: ApiClient): OperatorAccess {
  const pathOf = (name: string) => `/operators/${encodeURIComponent(name)}`
  return {
    async add(name, { role, services, expiresAt }) {
      const body = { name, role, services, expiresAt: isoTime(expiresAt) }
      return (await api<{ token: string }>('POST', '/operators', body)).token
    },
    async change(name, { expiresAt, ...fields }) {
      const body = { ...fields, expiresAt: expiresAt === null ? null : isoTime(expiresAt) }
      return toOperator(await api<OperatorView>('PATCH', pathOf(name), body))
    },
    rotate: async (name) => (await api<{ token: string }>('POST', `${pathOf(name)}/token`)).token,
    async list() {
      const { items } = await api<{ items: OperatorView[] }>('GET', '/operators')
      return items.map(toOperator)
    },
    remove: (name) => api('DELETE', pathOf(name)),
    async sessions(name) {
      const query = name === undefined ? '' : `?operator=${encodeURIComponent(name)}`
      return (await api<{ items: SessionView[] }>('GET', `/sessions${query}`)).items
    },
    revokeSession: (id) => api('DELETE', `/sessions/${encodeURIComponent(id)}`),
    resetSecondFactor: (name) => api('DELETE', `${pathOf(name)}/second-factor`),
  }
}

function toOperator(view: OperatorView): Operator {
  const { name, role, services, createdAt, rotatedAt, expiresAt, lastUsedAt } = view
  return {
    name,
    role,
    services: services ?? undefined,
    createdAt: Date.parse(createdAt) / 1000,
    rotatedAt: secondsOf(rotatedAt),
    expiresAt: secondsOf(expiresAt),
    lastUsedAt: secondsOf(lastUsedAt),
  }
}

function secondsOf(iso: string | null): number | undefined {
  return iso === null ? undefined : Date.parse(iso) / 1000
}

function isoTime(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString()
}
