/**
 * After a password reset by link: API keys and identities from before it keep working, because programs
 * depend on them, and the user is shown them at each sign-in until they are confirmed or revoked.
 */
import { requestError } from '@strongroom/kit/http/errors'
import { ferryhookError } from '../../errors.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import type { Stores } from '../../stores.ts'
import { type ApiKey, isRevoked } from '../api-keys/item.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import { linkedIdentities } from './identity.ts'
import type { OAuthProvider, User } from './item.ts'

export interface UnconfirmedCredentials {
  /** When the password was reset. */
  since: string
  apiKeys: ApiKey[]
  identities: OAuthProvider[]
}

export interface CredentialChoice {
  revokeApiKeys: readonly string[]
  revokeIdentities: readonly OAuthProvider[]
}

export type CredentialService = ReturnType<typeof createCredentialService>

export function createCredentialService({
  stores,
}: {
  stores: Pick<Stores, 'users' | 'apiKeys' | 'credentials'>
}) {
  const { users, apiKeys, credentials } = stores

  /** Undefined if there is nothing to confirm. */
  async function findUnconfirmed(user: User): Promise<UnconfirmedCredentials | undefined> {
    const since = user.credentialsUnconfirmedSince
    if (since === undefined) return undefined
    const keys = (await apiKeys.listByUser(user.userId)).filter(
      (key) => key.createdAt < since && !isRevoked(key, user),
    )
    const identities = linkedIdentities(user).filter(
      (provider) => (user[`${provider}LinkedAt`] ?? user.createdAt) < since,
    )
    return keys.length + identities.length === 0 ? undefined : { since, apiKeys: keys, identities }
  }

  return {
    findUnconfirmed,

    /** Revokes what the user does not recognize, and confirms the rest. Returns what was revoked. */
    async confirm(
      { user, actor }: Principal,
      { revokeApiKeys, revokeIdentities }: CredentialChoice,
    ): Promise<Pick<UnconfirmedCredentials, 'apiKeys' | 'identities'>> {
      const found = await findUnconfirmed(user)
      const known = found?.apiKeys.map(({ keyId }) => keyId) ?? []
      if (revokeApiKeys.some((id) => !known.includes(id))) throw ferryhookError('api_key_not_found')
      if (revokeIdentities.some((provider) => !found?.identities.includes(provider))) {
        const message = 'Must be identities that wait for confirmation'
        throw requestError('invalid', { details: [{ path: 'body.revokeIdentities', message }] })
      }
      for (const keyId of revokeApiKeys) {
        const by = { actor, action: 'api_key.deleted' } as const
        await apiKeys.delete(keyId, user.userId, { by }).catch((error: unknown) => {
          // Somebody else revoked it first.
          if (!(error instanceof WriteRejected)) throw error
        })
      }
      for (const target of revokeIdentities) {
        const by = { actor, action: 'identity.unlinked', target } as const
        await users.unlink(user.userId, target, { by }).catch(toAccountError)
      }
      await credentials.confirm(user, {
        by: { actor, action: 'account.credentials_confirmed' },
      })
      return {
        apiKeys: found?.apiKeys.filter(({ keyId }) => revokeApiKeys.includes(keyId)) ?? [],
        identities: [...revokeIdentities],
      }
    },
  }
}
