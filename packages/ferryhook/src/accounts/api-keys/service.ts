/** API keys of a user. */
import { translate } from '../../errors.ts'
import type { Stores } from '../../stores.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import { type ApiKey, isRevoked } from './item.ts'
import type { CreateApiKeyInput } from './store.ts'

export type ApiKeyService = ReturnType<typeof createApiKeyService>

export function createApiKeyService({ stores }: { stores: Pick<Stores, 'apiKeys'> }) {
  const { apiKeys } = stores

  return {
    /** Returns the key itself, which cannot be shown again. */
    create({ user, actor }: Principal, input: CreateApiKeyInput) {
      const by = { actor, action: 'api_key.created' } as const
      return apiKeys.create(user.userId, input, { expected: user, by }).catch(toAccountError)
    },

    async list({ user }: Principal): Promise<ApiKey[]> {
      const keys = await apiKeys.listByUser(user.userId)
      return keys.filter((key) => !isRevoked(key, user))
    },

    async delete({ user, actor }: Principal, keyId: string): Promise<void> {
      const by = { actor, action: 'api_key.deleted' } as const
      await apiKeys
        .delete(keyId, user.userId, { by })
        .catch(translate({ not_found: 'api_key_not_found' }))
    },
  }
}
