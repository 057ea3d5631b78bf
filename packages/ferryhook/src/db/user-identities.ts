/** What of a user belongs to that user only, and the ways in which they sign in. */
import type { TransactionFailed } from '@strongroom/kit/db-errors'
import { emailGuardKey, oauthGuardKey, oauthProviders, type User } from '../items/user.ts'
import { Refused } from './refused.ts'

/** The guards of their address and identities, each of which exists once. */
export function guardsOf(user: Partial<Pick<User, 'email' | 'githubId' | 'googleId'>>) {
  const guards: { PK: string; SK: 'GUARD' }[] = []
  if (user.email !== undefined)
    guards.push({ PK: emailGuardKey.of({ email: user.email }).PK, SK: 'GUARD' })
  for (const provider of oauthProviders) {
    const id = user[`${provider}Id`]
    if (id !== undefined) guards.push({ PK: oauthGuardKey.of({ provider, id }).PK, SK: 'GUARD' })
  }
  return guards
}

/**
 * A guard put is refused only if its identity belongs to somebody. If that is the user, who asked
 * for the same change twice at once, another read shows that it is done.
 */
export function takenBy(guards: { PK: string }[], userId: string) {
  return (failure: TransactionFailed) => {
    const refused = failure.reasons.filter((_, part) => failure.conditionFailed(part))
    const others = refused.filter(({ item }) => item?.userId !== userId)
    const taken = guards.find(({ PK }) => others.some(({ item }) => item?.PK === PK))
    if (!taken) return undefined
    throw new Refused(taken.PK.startsWith('EMAIL#') ? 'email_taken' : 'identity_taken')
  }
}

export function requireSignIn({ passwordHash, githubId, googleId }: User): void {
  if ((passwordHash ?? githubId ?? googleId) === undefined) throw new Refused('only_sign_in')
}
