/**
 * Operators: people and programs that may administer a server, each with a name and a token.
 *
 * A token contains the name (`sro_{name}.{secret}`), so that verifying it is one read by key. Only a
 * hash is stored: a stolen table gives no access.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db } from './db.ts'
import { ConditionFailed } from './db-errors.ts'
import { entity } from './entity.ts'
import { defineErrors } from './errors.ts'
import { expr } from './expression.ts'
import { randomToken } from './ids.ts'
import { scanAll } from './paging.ts'
import { serverTable } from './server-table.ts'
import { timingSafeEquals } from './timing-safe-equals.ts'

export const OperatorItem = z.object({
  PK: z.string().startsWith('OPERATOR#'),
  SK: z.literal('TOKEN'),
  name: z.string(),
  tokenHash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  createdAt: z.number().int(),
  rotatedAt: z.number().int().optional(),
})

export const operatorError = defineErrors('operator', {
  unauthorized: [401, 'An operator token is required. Send it as "Authorization: Bearer …".'],
  invalid_name: [400, 'An operator name has 1 to 32 lower-case letters, digits and hyphens'],
  exists: [409, 'An operator of this name exists. Choose another name, or rotate its token.'],
  not_found: [404, 'Operator not found. See "strongroom operator list".'],
})

export interface Operator {
  name: string
  createdAt: number
  rotatedAt: number | undefined
}

export interface Operators {
  /** Adds an operator and returns its token, which is never shown again. */
  add(name: string): Promise<string>
  /** Replaces the token of an operator; the old one becomes invalid immediately. */
  rotate(name: string): Promise<string>
  remove(name: string): Promise<void>
  list(): Promise<Operator[]>
  /** The name of the token's operator, or undefined. */
  verify(token: string): Promise<string | undefined>
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/
const TOKEN = /^sro_([a-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$/

export function createOperators({ db, clock }: { db: Db; clock: Clock }): Operators {
  const items = entity(db, serverTable, OperatorItem)
  const exists = expr`attribute_exists(${items.attr('PK')})`
  const absent = expr`attribute_not_exists(${items.attr('PK')})`

  return {
    async add(name) {
      requireName(name)
      const { token, tokenHash } = newToken(name)
      const item = { ...operatorKey(name), name, tokenHash, createdAt: epochSeconds(clock) }
      await items.put(item, absent).catch(orThrow('exists'))
      return token
    },

    async rotate(name) {
      requireName(name)
      const { token, tokenHash } = newToken(name)
      const [hash, rotatedAt] = [items.attr('tokenHash'), items.attr('rotatedAt')]
      await items
        .update(
          operatorKey(name),
          expr`SET ${hash} = ${tokenHash}, ${rotatedAt} = ${epochSeconds(clock)}`,
          exists,
        )
        .catch(orThrow('not_found'))
      return token
    },

    async remove(name) {
      requireName(name)
      await items.delete(operatorKey(name), exists).catch(orThrow('not_found'))
    },

    async list() {
      // A scan, because the table is small and only people read this.
      const operators: Operator[] = []
      const filter = expr`begins_with(${items.attr('PK')}, ${'OPERATOR#'})`
      for await (const item of scanAll(db, serverTable, { filter }, items.parse)) {
        const { name, createdAt, rotatedAt } = item
        operators.push({ name, createdAt, rotatedAt })
      }
      return operators.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },

    async verify(token) {
      const name = TOKEN.exec(token)?.[1]
      if (name === undefined) return undefined
      const item = await items.get(operatorKey(name))
      // Compared also for an unknown operator, so that both cases take the same time.
      const isValid = timingSafeEquals(item?.tokenHash ?? new Uint8Array(32), hashOf(token))
      return item && isValid ? name : undefined
    },
  }
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
