/**
 * Operators: people and programs that may administer a server, each with a name, a role and a token.
 *
 * A token contains the name (`sro_{name}.{secret}`), so that verifying it is one read by key. Only a
 * hash is stored: a stolen table gives no access.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db, TransactWriteItem } from './db.ts'
import { conditionHeld, ConditionFailed } from './db-errors.ts'
import { entity } from './entity.ts'
import { ApiError, defineErrors } from './errors.ts'
import { expr } from './expression.ts'
import { randomToken } from './ids.ts'
import { createInFlight } from './in-flight.ts'
import { scanAll } from './paging.ts'
import { CONFLICT, retryOnConflict } from './retry-on-conflict.ts'
import { serverTable } from './server-table.ts'
import { timingSafeEquals } from './timing-safe-equals.ts'
import { transactParts } from './transact.ts'

/** Each role includes the ones before it. */
export const operatorRoles = ['viewer', 'editor', 'admin'] as const
export const OperatorRole = z.enum(operatorRoles)
export type OperatorRole = z.infer<typeof OperatorRole>

export const OperatorItem = z.object({
  PK: z.string().startsWith('OPERATOR#'),
  SK: z.literal('TOKEN'),
  name: z.string(),
  tokenHash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  createdAt: z.number().int(),
  rotatedAt: z.number().int().optional(),
  /** Operators that were stored before there were roles are admins. */
  role: OperatorRole.optional(),
  /** The services that the operator is limited to; all if missing. */
  services: z.array(z.string()).min(1).optional(),
  expiresAt: z.number().int().optional(),
  /** To the minute. */
  lastUsedAt: z.number().int().optional(),
})
type OperatorItem = z.infer<typeof OperatorItem>

/** Its revision is a condition of every write that could leave the server without an admin. */
export const AdminGuardItem = z.object({
  PK: z.literal('OPERATORS'),
  SK: z.literal('ADMINS'),
  revision: z.number().int(),
})

export const operatorError = defineErrors('operator', {
  unauthorized: [401, 'An operator token is required. Send it as "Authorization: Bearer …".'],
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

export interface Operator {
  name: string
  role: OperatorRole
  /** Undefined for all services. */
  services: readonly string[] | undefined
  createdAt: number
  rotatedAt: number | undefined
  expiresAt: number | undefined
  lastUsedAt: number | undefined
}

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
  addPart(name: string, grant?: OperatorGrant): { token: string; part: TransactWriteItem }
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
  /** Resolves when the last uses that were noted are stored. */
  settled(): Promise<void>
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/
const TOKEN = /^sro_([a-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$/

/** The last use is stored at most this often. */
const LAST_USE_SECONDS = 60

const GUARD = { PK: 'OPERATORS', SK: 'ADMINS' } as const

export function createOperators({ db, clock }: { db: Db; clock: Clock }): Operators {
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
    const filter = expr`begins_with(${items.attr('PK')}, ${'OPERATOR#'})`
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
    makePart: (item: OperatorItem) => { part: TransactWriteItem; after: OperatorItem | undefined },
  ): Promise<OperatorItem | undefined> {
    requireName(name)
    return retryOnConflict(async () => {
      const revision = (await guards.get(GUARD))?.revision ?? 0
      const item = await items.get(operatorKey(name))
      if (!item) throw operatorError('not_found')
      const { part, after } = makePart(item)
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

  return {
    async add(name, grant = {}) {
      const { token, tokenHash } = newToken(name)
      await items.put(newItem(name, tokenHash, grant), absent).catch(orThrow('exists'))
      return token
    },

    addPart(name, grant = {}) {
      const { token, tokenHash } = newToken(name)
      return { token, part: items.part.put(newItem(name, tokenHash, grant), absent) }
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
        const isUnchanged = expr`${items.attr('tokenHash')} = ${item.tokenHash}`
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
        after: undefined,
      }))
    },

    async get(name) {
      requireName(name)
      const item = await items.get(operatorKey(name))
      return item && toOperator(item)
    },

    list,

    async verify(token) {
      const name = TOKEN.exec(token)?.[1]
      if (name === undefined) return undefined
      const item = await items.get(operatorKey(name))
      // Compared also for an unknown operator, so that both cases take the same time.
      const isValid = timingSafeEquals(item?.tokenHash ?? new Uint8Array(32), hashOf(token))
      if (!item || !isValid) return undefined
      if (item.expiresAt !== undefined && item.expiresAt <= epochSeconds(clock)) return undefined
      void inFlight.track(noteUse(item))
      return toOperator(item)
    },

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

function toOperator(item: OperatorItem): Operator {
  const { name, role = 'admin', services, createdAt, rotatedAt, expiresAt, lastUsedAt } = item
  return { name, role, services, createdAt, rotatedAt, expiresAt, lastUsedAt }
}

function operatorKey(name: string) {
  return { PK: `OPERATOR#${name}`, SK: 'TOKEN' } as const
}

function newToken(name: string) {
  const token = `sro_${name}.${randomToken(32)}`
  return { token, tokenHash: hashOf(token) }
}

/** The token has 256 random bits, so a fast hash is as safe as a slow one. */
function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}

function requireName(name: string) {
  if (!NAME.test(name)) throw operatorError('invalid_name')
}

function orThrow(code: 'exists' | 'not_found') {
  return (error: unknown): never => {
    throw error instanceof ConditionFailed ? operatorError(code) : error
  }
}
