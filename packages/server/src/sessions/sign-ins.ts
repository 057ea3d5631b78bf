/**
 * Sign-ins that wait for a second factor. Each is a random value in a cookie, of which only a hash is
 * stored, is valid for five minutes and five attempts, and becomes one session at most.
 */
import { createHash } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import { ConditionFailed, conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId, randomToken } from '@strongroom/kit/ids'
import { operatorError } from '@strongroom/kit/operators'
import { serverTable } from '@strongroom/kit/server-table'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import * as z from 'zod'

export const SignInItem = z.object({
  PK: z.string().startsWith('OPERATOR#'),
  SK: z.string().startsWith('SIGNIN#'),
  signInId: z.string().startsWith('sgn_'),
  name: z.string(),
  valueHash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  /** Of the credentials that it began with. */
  mark: z.string(),
  attempts: z.number().int(),
  expiresAt: z.number().int(),
})
export type SignIn = z.infer<typeof SignInItem>

export const SIGN_IN_SECONDS = 5 * 60
const MAX_ATTEMPTS = 5

const VALUE = /^([a-z0-9-]{1,32})\.(sgn_[\w-]{16})\.[\w-]{43}$/

export type SignIns = ReturnType<typeof createSignIns>

export function createSignIns({ db, clock }: { db: Db; clock: Clock }) {
  const items = entity(db, serverTable, SignInItem)
  const { attr } = items

  async function listKeys(name: string) {
    const key = expr`${attr('PK')} = ${`OPERATOR#${name}`} AND begins_with(${attr('SK')}, ${'SIGNIN#'})`
    return (await items.query({ key })).items
  }

  async function find(value: string): Promise<SignIn> {
    const [, name, signInId] = VALUE.exec(value) ?? []
    if (name === undefined || signInId === undefined) throw operatorError('sign_in_expired')
    const item = await items.get(signInKey(name, signInId))
    const isValid = timingSafeEquals(item?.valueHash ?? new Uint8Array(32), hashValue(value))
    if (!item || !isValid || item.expiresAt <= epochSeconds(clock)) {
      throw operatorError('sign_in_expired')
    }
    return item
  }

  return {
    /** Returns the value for the cookie. */
    async begin({ name, mark }: { name: string; mark: string }): Promise<string> {
      // The table does not expire anything, so that each sign-in removes what is left of earlier ones.
      const now = epochSeconds(clock)
      for (const { PK, SK, expiresAt } of await listKeys(name)) {
        if (expiresAt <= now) await conditionHeld(items.delete({ PK, SK }))
      }
      const signInId = newId('sgn')
      const value = `${name}.${signInId}.${randomToken(32)}`
      await items.put({
        ...signInKey(name, signInId),
        signInId,
        name,
        valueHash: hashValue(value),
        mark,
        attempts: 0,
        expiresAt: now + SIGN_IN_SECONDS,
      })
      return value
    },

    find,

    /** Counts an attempt before it is made. Throws `sign_in_expired` if there are none left. */
    async attempt(value: string): Promise<SignIn> {
      const { name, signInId } = await find(value)
      const attempts = attr('attempts')
      const isLeft = expr`${attempts} < ${MAX_ATTEMPTS} AND ${attr('expiresAt')} > ${epochSeconds(clock)}`
      return items
        .update(signInKey(name, signInId), expr`SET ${attempts} = ${attempts} + ${1}`, isLeft)
        .catch((error: unknown) => {
          throw error instanceof ConditionFailed ? operatorError('sign_in_expired') : error
        })
    },

    /** Ends the sign-in, as a part of the transaction that begins its session. */
    completePart: ({ name, signInId }: SignIn): TransactWriteItem =>
      items.part.delete(signInKey(name, signInId), expr`attribute_exists(${attr('PK')})`),
  }
}

function signInKey(name: string, signInId: string) {
  return { PK: `OPERATOR#${name}`, SK: `SIGNIN#${signInId}` } as const
}

function hashValue(value: string): Uint8Array {
  return createHash('sha256').update(value).digest()
}
