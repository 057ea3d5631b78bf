/** An API key. The key itself is not stored, only its hash. */
import * as z from 'zod'
import { keyTemplate } from '../../storage/key-template.ts'
import { id, isoTime } from '../../storage/schemas.ts'
import type { User } from '../users/item.ts'

export const apiKeyKey = keyTemplate({ PK: 'USER#{userId}', SK: 'KEY#{keyId}' })
export const apiKeyByHash = keyTemplate({ GSI2PK: 'KEYHASH#{keyHash}', GSI2SK: 'KEY' })
export const apiKeyById = keyTemplate({ GSI3PK: 'KEYID#{keyId}', GSI3SK: 'KEY' })

export const ApiKeyItem = z.object({
  ...apiKeyKey.fields,
  ...apiKeyByHash.fields,
  ...apiKeyById.fields,
  keyId: id('key'),
  userId: id('usr'),
  name: z.string().min(1).max(100),
  /** SHA-256 of the whole key, hexadecimal. */
  keyHash: z.string().regex(/^[0-9a-f]{64}$/),
  /** The first 8 characters after `fh_live_`, which identify the key in listings. */
  keyPrefix: z.string().length(8),
  permissions: z.enum(['read', 'write', 'admin']),
  lastUsedAt: isoTime.optional(),
  createdAt: isoTime,
})
export type ApiKey = z.infer<typeof ApiKeyItem>

/** Whether a password reset revoked the key. ISO times compare as text. */
export function isRevoked(
  { createdAt }: Pick<ApiKey, 'createdAt'>,
  { credentialsValidFrom }: Pick<User, 'credentialsValidFrom'>,
): boolean {
  return credentialsValidFrom !== undefined && createdAt < credentialsValidFrom
}
