/** Creates an account with an API key, for an operator. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { translate } from '../../errors.ts'
import type { Plan } from '../../plans.ts'
import type { Stores } from '../../stores.ts'
import type { User } from './item.ts'

export interface AddedUser {
  user: User
  /** Not stored, so it cannot be shown again. */
  key: string
}

/** The id of the user in the transaction that creates it, for the audit log. */
export function addedUserId(parts: readonly TransactWriteItem[]): string | undefined {
  const id = parts.map(({ Put }) => Put?.Item['userId']).find((found) => found !== undefined)
  return typeof id === 'string' ? id : undefined
}

/** Ignores the sign-up policy, which is for users who sign up themselves. */
export async function addUser(
  { users, apiKeys }: Pick<Stores, 'users' | 'apiKeys'>,
  profile: { email: string; name: string; plan: Plan },
  { actor }: { actor: string },
): Promise<AddedUser> {
  const userId = newId('usr')
  const { key, parts } = apiKeys.make(
    userId,
    { name: 'First key', permissions: 'admin' },
    { by: { actor, action: 'api_key.created' } },
  )
  // One transaction: a user without a key could neither sign in nor be created again.
  const user = await users
    .create({ ...profile, userId }, { extraParts: parts, by: { actor, action: 'account.created' } })
    .catch(translate({ email_taken: 'email_taken' }))
  return { user, key }
}
