/** API keys of a user. */
import type { Principal } from '../auth/principal.ts'
import type { CreateApiKeyInput } from '../db/api-keys.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { ApiKey } from '../items/api-key.ts'
import { asUserGone } from './user-gone.ts'

export function createKeyRing({ layer }: { layer: Pick<DataLayer, 'apiKeys'> }) {
  const { apiKeys } = layer

  return {
    /** The key itself is told here and never again. */
    create({ user, actor }: Principal, input: CreateApiKeyInput) {
      const by = { actor, action: 'api_key.created' } as const
      return apiKeys.create(user.userId, input, { withinAccount: true, by }).catch(asUserGone)
    },

    list: ({ user }: Principal): Promise<ApiKey[]> => apiKeys.listByUser(user.userId),

    async delete({ user, actor }: Principal, keyId: string): Promise<void> {
      const by = { actor, action: 'api_key.deleted' } as const
      await apiKeys.delete(keyId, user.userId, { by }).catch((error: unknown) => {
        throw error instanceof Refused ? ferryhookError('api_key_not_found') : error
      })
    },
  }
}

export type KeyRing = ReturnType<typeof createKeyRing>
