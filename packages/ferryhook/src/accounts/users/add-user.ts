/** Creates an account with an API key from the command line. */
import { randomBytes } from 'node:crypto'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import type { Clock } from '@strongroom/platform/clock'
import { translate } from '../../errors.ts'
import type { FerryhookSettings } from '../../settings.ts'
import { createStores } from '../../stores.ts'

export interface AddedUser {
  userId: string
  email: string
  /** Not stored, so it cannot be shown again. */
  key: string
}

/** The id of the user in the transaction that creates it, for the audit log. */
export function addedUserId(parts: readonly TransactWriteItem[]): string | undefined {
  const id = parts.map(({ Put }) => Put?.Item['userId']).find((found) => found !== undefined)
  return typeof id === 'string' ? id : undefined
}

/** Ignores the sign-up policy: the operator of the store could change that as well. */
export async function addUser(
  { db, clock, config }: { db: Db; clock: Clock; config: FerryhookSettings },
  { email, name }: { email: string; name: string },
): Promise<AddedUser> {
  // No listing is read here, so the cursor key does not matter.
  const stores = createStores({ db, clock, cursors: createCursors(randomBytes(32)) })
  const actor = 'operator:command-line'
  const userId = newId('usr')
  const { key, parts } = stores.apiKeys.make(
    userId,
    { name: 'First key', permissions: 'admin' },
    { by: { actor, action: 'api_key.created' } },
  )
  // One transaction: a user without a key could neither sign in nor be created again.
  const user = await stores.users
    .create(
      { userId, email, name, plan: config.FERRYHOOK_DEFAULT_PLAN },
      { extraParts: parts, by: { actor, action: 'account.created' } },
    )
    .catch(translate({ email_taken: 'email_taken' }))
  return { userId, email: user.email, key }
}
