/** Whose session it is, as long as it goes on: until it is ended, or another password ends it. */
import type { DataLayer } from '../db/data-layer.ts'
import { isOfPassword } from '../db/refresh-tokens.ts'
import type { User } from '../items/user.ts'

type SessionUser = (userId: string, sessionId: string) => Promise<User | undefined>

/** The session that changes the password goes on, and may do so between the two reads. */
const LOOKS = 2

export function createSessionUser({
  users,
  refreshTokens,
}: Pick<DataLayer, 'users' | 'refreshTokens'>): SessionUser {
  return async (userId, sessionId) => {
    for (let look = 0; look < LOOKS; look++) {
      const [user, session] = await Promise.all([
        users.getById(userId),
        refreshTokens.get(userId, sessionId),
      ])
      if (!user || !session) return undefined
      if (isOfPassword(session, user)) return user
    }
    return undefined
  }
}
