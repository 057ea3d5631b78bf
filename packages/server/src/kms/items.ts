/** The items of the embedded KMS in `strongroom-server`. */
import * as z from 'zod'

const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0)
const Millis = z.number().int().nonnegative()

export const StateItem = z.object({
  PK: z.string().startsWith('KMSKEY#'),
  SK: z.literal('STATE'),
  id: z.string(),
  arn: z.string(),
  description: z.string(),
  createdAt: Millis,
  masterKeyCheck: Bytes,
  state: z.enum(['Enabled', 'Disabled', 'PendingDeletion']),
  deletionAt: Millis.optional(),
  dueSeenAt: Millis.optional(),
  currentVersion: z.number().int().positive(),
  revision: z.number().int().positive(),
})

export const VersionItem = z.object({
  PK: z.string().startsWith('KMSKEY#'),
  SK: z.string().regex(/^V#[1-9]\d*$/),
  version: z.number().int().positive(),
  createdAt: Millis,
  wrapped: Bytes,
  /** Wrapped by the next master key, during a rekey. */
  nextWrapped: Bytes.optional(),
})

/** The master key that wraps the keys; stored from the first rekey on. */
export const MasterKeyItem = z.object({
  PK: z.literal('KMSKEY'),
  SK: z.literal('MASTER'),
  /** Check values of master keys, like `masterKeyCheck`. */
  current: Bytes,
  /** Only during a rekey. */
  next: Bytes.optional(),
  decided: z.boolean().optional(),
})

export const MASTER_KEY = { PK: 'KMSKEY', SK: 'MASTER' } as const

export function stateKey(id: string) {
  return { PK: `KMSKEY#${id}`, SK: 'STATE' } as const
}

export function versionKey(id: string, version: number) {
  return { PK: `KMSKEY#${id}`, SK: `V#${version}` } as const
}
