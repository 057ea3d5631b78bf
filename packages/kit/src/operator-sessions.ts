/**
 * Sessions of operators in a browser: a random value in a cookie, of which only a hash is stored. The
 * value names the operator and the session, so that verifying it is two reads by key.
 *
 * A session has the mark of the credentials that it began with. Rotating the token, removing the
 * operator or resetting its second factor changes the mark, which ends all sessions in the same write.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db, TransactWriteItem } from './db.ts'
import { conditionHeld } from './db-errors.ts'
import { entity } from './entity.ts'
import { expr } from './expression.ts'
import { newId, randomToken } from './ids.ts'
import { serverTable } from './server-table.ts'
import { timingSafeEquals } from './timing-safe-equals.ts'

const bytes32 = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32)
const seconds = z.number().int()

export const OperatorSessionItem = z.object({
  PK: z.string().startsWith('OPERATOR#'),
  SK: z.string().startsWith('SESSION#'),
  sessionId: z.string().startsWith('ses_'),
  name: z.string(),
  valueHash: bytes32,
  /** Of the credentials of the operator, see `OperatorIdentity`. */
  mark: z.string(),
  createdAt: seconds,
  expiresAt: seconds,
  /** When the operator last proved who it is. */
  verifiedAt: seconds,
  /** Whether it did so with a second factor. */
  secondFactor: z.boolean(),
  /** To the minute. */
  lastUsedAt: seconds.optional(),
  address: z.string().optional(),
  userAgent: z.string().optional(),
})
export type OperatorSession = z.infer<typeof OperatorSessionItem>

export const SESSION_SECONDS = 12 * 3_600
/** The last use is stored at most this often. */
const LAST_USE_SECONDS = 60
const MAX_USER_AGENT_LENGTH = 200

const VALUE = /^([a-z0-9-]{1,32})\.(ses_[\w-]{16})\.[\w-]{43}$/

export interface SessionClient {
  address?: string | undefined
  userAgent?: string | undefined
}

export interface NewSession extends SessionClient {
  name: string
  mark: string
  secondFactor: boolean
}

export function createOperatorSessions({ db, clock }: { db: Db; clock: Clock }) {
  const items = entity(db, serverTable, OperatorSessionItem)
  const { attr } = items
  const exists = expr`attribute_exists(${attr('PK')})`

  function createItem({ name, mark, secondFactor, address, userAgent }: NewSession) {
    const sessionId = newId('ses')
    const value = `${name}.${sessionId}.${randomToken(32)}`
    const now = epochSeconds(clock)
    const item: OperatorSession = {
      ...sessionKey(name, sessionId),
      sessionId,
      name,
      valueHash: hashValue(value),
      mark,
      createdAt: now,
      expiresAt: now + SESSION_SECONDS,
      verifiedAt: now,
      secondFactor,
      ...(address !== undefined && { address }),
      ...(userAgent !== undefined && { userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }),
    }
    return { value, session: item }
  }

  return {
    /** A new session as a part of a transaction, and the value for its cookie. */
    createPart(given: NewSession): {
      value: string
      session: OperatorSession
      part: TransactWriteItem
    } {
      const { value, session } = createItem(given)
      const isNew = expr`attribute_not_exists(${attr('PK')})`
      return { value, session, part: items.part.put(session, isNew) }
    },

    /** The session with this value, if it has not expired; its mark is the caller's to compare. */
    async find(value: string): Promise<OperatorSession | undefined> {
      const [, name, sessionId] = VALUE.exec(value) ?? []
      if (name === undefined || sessionId === undefined) return undefined
      const item = await items.get(sessionKey(name, sessionId))
      const isValid = timingSafeEquals(item?.valueHash ?? new Uint8Array(32), hashValue(value))
      return item && isValid && item.expiresAt > epochSeconds(clock) ? item : undefined
    },

    /** Stores that the session was used, at most once a minute. */
    async noteUse({ name, sessionId, lastUsedAt }: OperatorSession): Promise<void> {
      const now = epochSeconds(clock)
      if (lastUsedAt !== undefined && Math.abs(now - lastUsedAt) < LAST_USE_SECONDS) return
      const update = expr`SET ${attr('lastUsedAt')} = ${now}`
      // Only for information, so a request never fails because of it.
      await conditionHeld(items.change(sessionKey(name, sessionId), update, exists)).catch(
        () => false,
      )
    },

    /** A fresh proof of who the operator is, as a part of a transaction. */
    verifiedPart(
      { name, sessionId }: OperatorSession,
      { mark, secondFactor }: { mark: string; secondFactor: boolean },
    ): TransactWriteItem {
      return items.part.update(
        sessionKey(name, sessionId),
        expr`SET ${attr('verifiedAt')} = ${epochSeconds(clock)}, ${attr('mark')} = ${mark}, ${attr('secondFactor')} = ${secondFactor}`,
        exists,
      )
    },

    /** All of an operator, also those that have ended. */
    async list(name: string): Promise<OperatorSession[]> {
      const key = expr`${attr('PK')} = ${`OPERATOR#${name}`} AND begins_with(${attr('SK')}, ${'SESSION#'})`
      return (await items.query({ key })).items
    },

    /** False if there is none. */
    delete: (name: string, sessionId: string): Promise<boolean> =>
      conditionHeld(items.delete(sessionKey(name, sessionId), exists)),
  }
}

export type OperatorSessions = ReturnType<typeof createOperatorSessions>

function sessionKey(name: string, sessionId: string) {
  return { PK: `OPERATOR#${name}`, SK: `SESSION#${sessionId}` } as const
}

/** The value has 256 random bits, so a fast hash is as safe as a slow one. */
function hashValue(value: string): Uint8Array {
  return createHash('sha256').update(value).digest()
}
