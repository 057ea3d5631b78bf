/**
 * Operators: people and programs that may administer a server, each with a name, a role and a token.
 *
 * A token contains the name (`sro_{name}.{secret}`), so that verifying it is one read by key. Only a
 * hash is stored: a stolen table gives no access.
 */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { AuditedItem } from './audited-item.ts'
import type { Db, TransactWriteItem } from './db.ts'
import { conditionHeld, ConditionFailed } from './db-errors.ts'
import { entity } from './entity.ts'
import { ApiError, defineErrors } from './errors.ts'
import { expr, type Expression } from './expression.ts'
import { createInFlight } from './in-flight.ts'
import {
  AdminGuardItem,
  deleteSecondFactorPart,
  hashToken,
  markOf,
  nameInToken,
  newToken,
  type Operator,
  type OperatorIdentity,
  OperatorItem,
  operatorKey,
  type OperatorRole,
  operatorRoles,
  toIdentity,
  toOperator,
} from './operator-item.ts'
import { createOperatorSessions, type OperatorSession } from './operator-sessions.ts'
import { scanAll } from './paging.ts'
import { CONFLICT, retryOnConflict } from './retry-on-conflict.ts'
import { serverTable } from './server-table.ts'
import { timingSafeEquals } from './timing-safe-equals.ts'
import { transactParts } from './transact.ts'

export const operatorError = defineErrors('operator', {
  unauthorized: [401, 'An operator token is required. Send it as "Authorization: Bearer …".'],
  session_ended: [401, 'This session has ended. Sign in again.'],
  session_required: [403, 'This requires a session of the console. Sign in there.'],
  foreign_origin: [
    403,
    'With a session, requests must come from a page of this server. Programs send a token instead.',
  ],
  invalid_token: [401, 'The token is wrong, replaced or expired. Sign in with a current one.'],
  sign_in_expired: [
    401,
    'This sign-in has expired, was completed or had too many attempts. Start again with your token.',
  ],
  verification_required: [
    403,
    'This requires a sign-in or verification within the last 10 minutes. Verify again.',
  ],
  second_factor_setup_required: [
    403,
    'This server requires a second factor from admins. Add an authenticator app or a passkey first.',
  ],
  last_second_factor: [
    409,
    'This server requires a second factor from admins. Add another one before you remove this one.',
  ],
  own_second_factor: [
    409,
    'Another admin must reset your second factor. Remove it in your sign-in settings, or use "strongroom operator reset-2fa" on the server.',
  ],
  session_not_found: [404, 'Session not found. It may have ended already.'],
  forbidden: [403, 'This operator lacks the role that data.requiredRole names for data.service'],
  invalid_name: [400, 'An operator name has 1 to 32 lower-case letters, digits and hyphens'],
  invalid_expiry: [400, 'The expiry must be in the future'],
  invalid_code: [
    403,
    'The bootstrap code is wrong, used or expired. Run "strongroom operator bootstrap" for a new one.',
  ],
  exists: [409, 'An operator of this name exists. Choose another name, or rotate its token.'],
  last_admin: [
    409,
    'One admin without an expiry and for all services must remain. Add another admin first.',
  ],
  not_found: [404, 'Operator not found. See "strongroom operator list".'],
})

export interface OperatorGrant {
  /** Admin by default. */
  role?: OperatorRole | undefined
  services?: readonly string[] | undefined
  /** In epoch seconds. */
  expiresAt?: number | undefined
}

/** Null removes a limit. */
export interface OperatorChange {
  role?: OperatorRole | undefined
  services?: readonly string[] | null | undefined
  expiresAt?: number | null | undefined
}

export interface Operators {
  /** Adds an operator and returns its token, which is never shown again. */
  add(name: string, grant?: OperatorGrant): Promise<string>
  /** The same as a part of a transaction, on the condition that the name is free. */
  addPart(
    name: string,
    grant?: OperatorGrant,
  ): { token: string; mark: string; part: TransactWriteItem }
  /** Throws `operator.last_admin` instead of leaving the server without a permanent admin. */
  change(name: string, change: OperatorChange): Promise<Operator>
  /** Replaces the token of an operator; the old one becomes invalid immediately. */
  rotate(name: string): Promise<string>
  /** Throws `operator.last_admin` instead of leaving the server without a permanent admin. */
  remove(name: string): Promise<void>
  get(name: string): Promise<Operator | undefined>
  list(): Promise<Operator[]>
  /** The operator with this token; undefined if there is none or it has expired. */
  verify(token: string): Promise<Operator | undefined>
  /** The same, with the mark of its credentials. */
  identify(token: string): Promise<OperatorIdentity | undefined>
  /** The operator of a session; undefined if the session or the operator has ended. */
  verifySession(value: string): Promise<OperatorSignIn | undefined>
  /** The operator with this name, unless it has expired. */
  load(name: string): Promise<OperatorIdentity | undefined>
  /** Requires that the credentials are as they were read, as a part of a transaction. */
  unchangedPart(identity: OperatorIdentity): TransactWriteItem
  /** Ends all sessions, as a part of a transaction, and returns the mark of new ones. */
  endSessionsPart(identity: OperatorIdentity): { part: TransactWriteItem; mark: string }
  /** What sessions must fulfil. */
  sessionPolicy: SessionPolicy
  /** Resolves when the last uses that were noted are stored. */
  settled(): Promise<void>
}

export interface OperatorSignIn {
  operator: Operator
  session: OperatorSession
}

export interface SessionPolicy {
  /** The public URL of the server, which requests with a session come from; without it there are none. */
  publicUrl: string | undefined
  /** Whether admins need a second factor. */
  requiresSecondFactor: boolean
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/

/** The last use is stored at most this often. */
const LAST_USE_SECONDS = 60

const GUARD = { PK: 'OPERATORS', SK: 'ADMINS' } as const

export function createOperators({
  db,
  clock,
  publicUrl,
  requiresSecondFactor = false,
}: {
  db: Db
  clock: Clock
  publicUrl?: string
  requiresSecondFactor?: boolean
}): Operators {
  const sessions = createOperatorSessions({ db, clock })
  const items = entity(db, serverTable, OperatorItem)
  const guards = entity(db, serverTable, AdminGuardItem)
  const exists = expr`attribute_exists(${items.attr('PK')})`
  const absent = expr`attribute_not_exists(${items.attr('PK')})`
  const inFlight = createInFlight()
  const noting = new Set<string>()

  function newItem(name: string, tokenHash: Uint8Array, grant: OperatorGrant): OperatorItem {
    requireName(name)
    const { role = 'admin', services, expiresAt } = grant
    requireFuture(expiresAt)
    return {
      ...operatorKey(name),
      name,
      tokenHash,
      createdAt: epochSeconds(clock),
      role,
      ...(services && { services: [...services] }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
  }

  function requireFuture(expiresAt: number | null | undefined): void {
    if (typeof expiresAt === 'number' && expiresAt <= epochSeconds(clock)) {
      throw operatorError('invalid_expiry')
    }
  }

  async function list(): Promise<Operator[]> {
    // A scan, because the table is small and only people read this.
    const operators: Operator[] = []
    const filter = expr`begins_with(${items.attr('PK')}, ${'OPERATOR#'}) AND ${items.attr('SK')} = ${'TOKEN'}`
    for await (const item of scanAll(db, serverTable, { filter }, items.parse)) {
      operators.push(toOperator(item))
    }
    return operators.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /**
   * Writes a part that takes rights away, if an admin remains. Of two writes that see the same
   * admins, the revision of the guard lets one through; the other looks again.
   */
  async function reduceRights(
    name: string,
    makePart: (item: OperatorItem) => {
      part: TransactWriteItem
      more?: TransactWriteItem
      after: OperatorItem | undefined
    },
  ): Promise<OperatorItem | undefined> {
    requireName(name)
    return retryOnConflict(async () => {
      const revision = (await guards.get(GUARD))?.revision ?? 0
      const item = await items.get(operatorKey(name))
      if (!item) throw operatorError('not_found')
      const { part, more, after } = makePart(item)
      if (isFullAdmin(toOperator(item)) && !(after && isPermanentAdmin(toOperator(after)))) {
        const others = (await list()).filter((each) => each.name !== name)
        if (!others.some(isPermanentAdmin)) throw operatorError('last_admin')
      }
      const isUnchanged =
        revision === 0
          ? expr`attribute_not_exists(${guards.attr('PK')})`
          : expr`${guards.attr('revision')} = ${revision}`
      const written = await transactParts(db, {
        operator: part,
        ...(more && { more }),
        guard: guards.part.put({ ...GUARD, revision: revision + 1 }, isUnchanged),
      })
      return written.kind === 'done' ? after : CONFLICT
    })
  }

  async function noteUse({ name, tokenHash, lastUsedAt }: OperatorItem): Promise<void> {
    const now = epochSeconds(clock)
    const isFresh = lastUsedAt !== undefined && Math.abs(now - lastUsedAt) < LAST_USE_SECONDS
    if (isFresh || noting.has(name)) return
    noting.add(name)
    const used = items.attr('lastUsedAt')
    // Only for information, so a request never waits for it or fails because of it.
    await conditionHeld(
      items.change(
        operatorKey(name),
        expr`SET ${used} = ${now}`,
        expr`${items.attr('tokenHash')} = ${tokenHash}`,
      ),
    )
      .catch(() => false)
      .finally(() => noting.delete(name))
  }

  function isExpired({ expiresAt }: OperatorItem): boolean {
    return expiresAt !== undefined && expiresAt <= epochSeconds(clock)
  }

  async function identify(token: string): Promise<OperatorIdentity | undefined> {
    const name = nameInToken(token)
    if (name === undefined) return undefined
    const item = await items.get(operatorKey(name))
    // Compared also for an unknown operator, so that both cases take the same time.
    const isValid = timingSafeEquals(item?.tokenHash ?? new Uint8Array(32), hashToken(token))
    if (!item || !isValid || isExpired(item)) return undefined
    void inFlight.track(noteUse(item))
    return toIdentity(item)
  }

  async function load(name: string): Promise<OperatorIdentity | undefined> {
    const item = await items.get(operatorKey(name))
    return item && !isExpired(item) ? toIdentity(item) : undefined
  }

  function hasCredentials({
    tokenHash,
    sessionEpoch,
  }: Pick<OperatorIdentity, 'tokenHash' | 'sessionEpoch'>): Expression {
    const epoch = items.attr('sessionEpoch')
    const hasEpoch =
      sessionEpoch === 0 ? expr`attribute_not_exists(${epoch})` : expr`${epoch} = ${sessionEpoch}`
    return expr`${items.attr('tokenHash')} = ${tokenHash} AND ${hasEpoch}`
  }

  return {
    async add(name, grant = {}) {
      const { token, tokenHash } = newToken(name)
      await items.put(newItem(name, tokenHash, grant), absent).catch(orThrow('exists'))
      return token
    },

    addPart(name, grant = {}) {
      const { token, tokenHash } = newToken(name)
      const part = items.part.put(newItem(name, tokenHash, grant), absent)
      return { token, mark: markOf(tokenHash, 0), part }
    },

    async change(name, { role, services, expiresAt }) {
      requireFuture(expiresAt)
      const changed = await reduceRights(name, (item) => {
        const { services: oldServices, expiresAt: oldExpiry, lastUsedAt, ...rest } = item
        const newServices = services === undefined ? oldServices : (services ?? undefined)
        const newExpiry = expiresAt === undefined ? oldExpiry : (expiresAt ?? undefined)
        const after: OperatorItem = {
          ...rest,
          role: role ?? item.role ?? 'admin',
          ...(newServices && { services: [...newServices] }),
          ...(newExpiry !== undefined && { expiresAt: newExpiry }),
          ...(lastUsedAt !== undefined && { lastUsedAt }),
        }
        // Also the epoch: writing back an earlier one would revive the sessions that it ended.
        const isUnchanged = hasCredentials(toIdentity(item))
        return { part: items.part.put(after, isUnchanged), after }
      })
      if (!changed) throw operatorError('not_found')
      return toOperator(changed)
    },

    async rotate(name) {
      requireName(name)
      const { token, tokenHash } = newToken(name)
      const [hash, rotatedAt] = [items.attr('tokenHash'), items.attr('rotatedAt')]
      await items
        .change(
          operatorKey(name),
          expr`SET ${hash} = ${tokenHash}, ${rotatedAt} = ${epochSeconds(clock)}`,
          exists,
        )
        .catch(orThrow('not_found'))
      return token
    },

    async remove(name) {
      await reduceRights(name, () => ({
        part: items.part.delete(operatorKey(name), exists),
        // A new operator of the same name must not inherit it.
        more: deleteSecondFactorPart(name),
        after: undefined,
      }))
    },

    async get(name) {
      requireName(name)
      const item = await items.get(operatorKey(name))
      return item && toOperator(item)
    },

    list,

    verify: async (token) => (await identify(token))?.operator,

    identify,

    async verifySession(value) {
      const session = await sessions.find(value)
      const identity = session && (await load(session.name))
      if (!session || identity?.mark !== session.mark) return undefined
      void inFlight.track(sessions.noteUse(session))
      return { operator: identity.operator, session }
    },

    load,

    unchangedPart: ({ operator, ...identity }) =>
      items.part.check(operatorKey(operator.name), hasCredentials(identity)),

    endSessionsPart({ operator, tokenHash, sessionEpoch }) {
      const next = sessionEpoch + 1
      const update = expr`SET ${items.attr('sessionEpoch')} = ${next}`
      const isUnchanged = hasCredentials({ tokenHash, sessionEpoch })
      const part = items.part.update(operatorKey(operator.name), update, isUnchanged)
      return { part, mark: markOf(tokenHash, next) }
    },

    sessionPolicy: { publicUrl, requiresSecondFactor },

    settled: () => inFlight.settled(),
  }
}

/** Throws `operator.forbidden`, naming the role, if the operator may not do this. */
export function requireOperatorRole(operator: Operator, role: OperatorRole, service: string): void {
  const hasRole = operatorRoles.indexOf(operator.role) >= operatorRoles.indexOf(role)
  if (hasRole && (operator.services?.includes(service) ?? true)) return
  const entry = operatorError.entry('forbidden')
  const message = `This requires the operator role ${role} for ${service}. Ask an admin to change the role of ${operator.name}.`
  throw new ApiError({ ...entry, message }, { data: { requiredRole: role, service } })
}

function isFullAdmin({ role, services }: Operator): boolean {
  return role === 'admin' && services === undefined
}

/** Whether the operator can always administer the whole server. */
export function isPermanentAdmin(operator: Operator): boolean {
  return isFullAdmin(operator) && operator.expiresAt === undefined
}

/** The rights of an operator, for the audit log entry of a change. */
export function auditedOperator(
  name: string,
  describe: (before: Operator) => ReturnType<AuditedItem['describe']>,
): AuditedItem {
  return {
    table: serverTable,
    key: operatorKey(name),
    attributes: ['role', 'services', 'expiresAt'],
    describe: (item) => (item ? describe(toOperator(OperatorItem.parse(item))) : {}),
  }
}

function requireName(name: string) {
  if (!NAME.test(name)) throw operatorError('invalid_name')
}

function orThrow(code: 'exists' | 'not_found') {
  return (error: unknown): never => {
    throw error instanceof ConditionFailed ? operatorError(code) : error
  }
}
