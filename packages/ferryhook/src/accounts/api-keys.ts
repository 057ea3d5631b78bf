/** API keys of a user. */
import type { Principal } from '../auth/principal.ts'
import type { CreateApiKeyInput } from '../db/api-keys.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { ApiKey } from '../items/api-key.ts'
import type { Audit } from './audit-trail.ts'
import { asUserGone } from './user-gone.ts'

export function createKeyRing(deps: { layer: Pick<DataLayer, 'apiKeys'>; audit: Audit }) {
  const { audit } = deps
  const { apiKeys } = deps.layer

  return {
    /** The key itself is told here and never again. */
    async create({ user, actor }: Principal, input: CreateApiKeyInput) {
      const made = await apiKeys
        .create(user.userId, input, { withinAccount: true })
        .catch(asUserGone)
      await audit(user.userId, actor, 'api_key.created', made.apiKey.keyId)
      return made
    },

    list: ({ user }: Principal): Promise<ApiKey[]> => apiKeys.listByUser(user.userId),

    async delete({ user, actor }: Principal, keyId: string): Promise<void> {
      await apiKeys.delete(keyId, user.userId).catch((error: unknown) => {
        throw error instanceof Refused ? ferryhookError('api_key_not_found') : error
      })
      await audit(user.userId, actor, 'api_key.deleted', keyId)
    },
  }
}

export type KeyRing = ReturnType<typeof createKeyRing>
