/** An account that whoever has the store makes for somebody, with an API key to begin with. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@strongroom/kit/clock'
import { createCursors } from '@strongroom/kit/cursor'
import type { Db } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { createDataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { FerryhookSettings } from '../settings.ts'

export interface AddedUser {
  userId: string
  email: string
  /** Told here and never again. */
  key: string
}

/** Whatever the policy of signing up: who can do this could change that, too. */
export async function addUser(
  { db, clock, config }: { db: Db; clock: Clock; config: FerryhookSettings },
  { email, name }: { email: string; name: string },
): Promise<AddedUser> {
  // Nothing is listed here.
  const cursors = createCursors(randomBytes(32))
  const layer = createDataLayer({ db, clock, cursors })
  const actor = 'operator:command-line'
  const plan = config.FERRYHOOK_DEFAULT_PLAN
  const userId = newId('usr')
  const first = { name: 'First key', permissions: 'admin' } as const
  const { key, parts } = layer.apiKeys.make(userId, first, {
    by: { actor, action: 'api_key.created' },
  })
  const by = { actor, action: 'account.created' } as const
  // Together: a user without a key could neither be used nor made again.
  const user = await layer.users
    .create({ userId, email, name, plan }, { also: parts, by })
    .catch((error: unknown) => {
      const isTaken = error instanceof Refused && error.reason === 'email_taken'
      throw isTaken ? ferryhookError('email_taken') : error
    })
  return { userId, email: user.email, key }
}
