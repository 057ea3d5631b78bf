/** The second factors of one person as they are stored: one item, which every change replaces. */
import * as z from 'zod'
import type { Db, TransactWriteItem } from '../db.ts'
import { entity } from '../entity.ts'
import { expr } from '../expression.ts'
import type { Table } from '../table.ts'

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0)
const seconds = z.number().int()

const StoredPasskey = z.object({
  /** The credential id, base64url. */
  id: z.string(),
  name: z.string(),
  publicKey: bytes,
  /** Increases with each use, unless the authenticator does not count. */
  counter: z.number().int(),
  transports: z.array(z.string()),
  /** Whether it is synchronized between devices. */
  isSynced: z.boolean(),
  createdAt: seconds,
  lastUsedAt: seconds.optional(),
})
export type StoredPasskey = z.infer<typeof StoredPasskey>

const StoredChallenge = z.object({
  purpose: z.enum(['registration', 'authentication']),
  /** The session or sign-in that asked for it; a response counts only there. */
  context: z.string(),
  challenge: z.string(),
  expiresAt: seconds,
})
export type StoredChallenge = z.infer<typeof StoredChallenge>

/** The attributes beside the key. */
const secondFactorFields = {
  /** New with each write, and a condition of the next one. */
  revision: z.string(),
  /** `lastStep` is the last one of which a code was accepted. */
  totp: z.object({ sealed: bytes, createdAt: seconds, lastStep: z.number().int() }).optional(),
  /** An app that is being set up. */
  newTotp: z.object({ sealed: bytes, context: z.string(), expiresAt: seconds }).optional(),
  passkeys: z.array(StoredPasskey).optional(),
  /** Hashes of the codes that are left. */
  recoveryCodes: z.array(z.string()).optional(),
  challenges: z.array(StoredChallenge).optional(),
  /** Wrong codes since the last accepted proof. */
  failures: z.object({ count: z.number().int(), since: seconds }).optional(),
}

export const SecondFactorItem = z.object({
  PK: z.string(),
  SK: z.string(),
  ...secondFactorFields,
})

const StoredSecondFactors = z.object(secondFactorFields)
export type StoredSecondFactors = z.infer<typeof StoredSecondFactors>

/** Whether a second factor is required to sign in. */
export function isEnrolled(
  factors: Pick<StoredSecondFactors, 'totp' | 'passkeys'> | undefined,
): boolean {
  return factors?.totp !== undefined || (factors?.passkeys?.length ?? 0) > 0
}

/**
 * Reads, and writes on the condition that nothing was written in between, for a table with the key
 * attributes PK and SK.
 */
export function createSecondFactorItems(
  db: Db,
  table: Table<'PK' | 'SK'>,
  keyOf: (owner: string) => { PK: string; SK: string },
) {
  const items = entity(db, table, SecondFactorItem)

  return {
    async load(owner: string): Promise<StoredSecondFactors | undefined> {
      const item = await items.get(keyOf(owner))
      if (!item) return undefined
      const { PK: _, SK: __, ...factors } = item
      return factors
    },

    /** Replaces what was read; without `after` it is deleted. */
    replacePart(
      owner: string,
      before: StoredSecondFactors | undefined,
      after: StoredSecondFactors | undefined,
    ): TransactWriteItem {
      const isUnchanged = before
        ? expr`${items.attr('revision')} = ${before.revision}`
        : expr`attribute_not_exists(${items.attr('PK')})`
      const key = keyOf(owner)
      return after
        ? items.part.put({ ...key, ...after }, isUnchanged)
        : items.part.delete(key, isUnchanged)
    },
  }
}
