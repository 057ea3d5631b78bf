/** The items that the embedded KMS keeps in `strongroom-server`. */
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
  currentVersion: z.number().int().positive(),
  revision: z.number().int().positive(),
})

export const VersionItem = z.object({
  PK: z.string().startsWith('KMSKEY#'),
  SK: z.string().regex(/^V#[1-9]\d*$/),
  version: z.number().int().positive(),
  createdAt: Millis,
  wrapped: Bytes,
  /** By the next master key, while it is being changed. */
  nextWrapped: Bytes.optional(),
})

/** Which master key the keys belong to; there is one once it was changed. */
export const MasterKeyItem = z.object({
  PK: z.literal('KMSKEY'),
  SK: z.literal('MASTER'),
  /** Checks of master keys, as `masterKeyCheck`. */
  current: Bytes,
  /** While it is being changed. */
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
