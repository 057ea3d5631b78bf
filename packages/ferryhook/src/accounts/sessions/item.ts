/** A session of a user: a family of refresh tokens, each of which replaces the one before. */
import * as z from 'zod'
import { keyTemplate } from '../../storage/key-template.ts'
import { id, isoTime, milliseconds, seconds } from '../../storage/schemas.ts'

const tokenHash = z.string().regex(/^[0-9a-f]{64}$/)

/** In characters. Browsers send about 120; programs may send anything. */
export const MAX_USER_AGENT_LENGTH = 200

export const refreshTokenKey = keyTemplate({ PK: 'USER#{userId}', SK: 'RTK#{familyId}' })

export const RefreshTokenItem = z.object({
  ...refreshTokenKey.fields,
  userId: id('usr'),
  familyId: id('rtk'),
  /** The MAC key that proves which tokens were issued; only the newest of them is accepted. */
  familyKey: z.string().regex(/^[\w-]{43}$/),
  tokenHash,
  /** The replaced token, which a second tab may still send for a moment. */
  previousHash: tokenHash.optional(),
  /** Identifies the user's password: a new one ends the session. Older sessions lack it. */
  passwordMark: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** Where the session was last used from. Sessions from before these were stored lack them. */
  address: z.string().min(1).max(45).optional(),
  userAgent: z.string().min(1).max(MAX_USER_AGENT_LENGTH).optional(),
  rotatedAt: milliseconds,
  createdAt: isoTime,
  expiresAt: seconds,
})
export type StoredSession = z.infer<typeof RefreshTokenItem>

/** Where a request comes from, as far as it is known. */
export type ClientInfo = Pick<StoredSession, 'address' | 'userAgent'>
