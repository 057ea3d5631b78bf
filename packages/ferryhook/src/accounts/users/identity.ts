/** Attributes that belong to one user only, and the ways in which a user signs in. */
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { WriteRejected } from '../../storage/write-rejected.ts'
import {
  emailGuardKey,
  type OAuthProvider,
  oauthGuardKey,
  oauthProviders,
  type User,
} from './item.ts'

/** Keys of the guard items that make an e-mail address and identities unique. */
export function uniqueKeysOf(user: Partial<Pick<User, 'email' | 'githubId' | 'googleId'>>) {
  const keys: { PK: string; SK: 'GUARD' }[] = []
  if (user.email !== undefined) {
    keys.push({ PK: emailGuardKey.of({ email: user.email }).PK, SK: 'GUARD' })
  }
  for (const provider of oauthProviders) {
    const id = user[`${provider}Id`]
    if (id !== undefined) keys.push({ PK: oauthGuardKey.of({ provider, id }).PK, SK: 'GUARD' })
  }
  return keys
}

/**
 * For `.catch` of a transaction that puts these keys: rejects the write if another user has one of
 * them. If the same user has it, because of two identical requests, the failure passes through: the
 * next read shows that the change is done.
 */
export function rejectTaken(keys: { PK: string }[], userId: string) {
  return (failure: unknown): never => {
    if (!(failure instanceof TransactionFailed)) throw failure
    const rejected = failure.reasons.filter((_, part) => failure.conditionFailed(part))
    const others = rejected.filter(({ item }) => item?.userId !== userId)
    const taken = keys.find(({ PK }) => others.some(({ item }) => item?.PK === PK))
    if (!taken) throw failure
    throw new WriteRejected(taken.PK.startsWith('EMAIL#') ? 'email_taken' : 'identity_taken')
  }
}

export function linkedIdentities(user: User): OAuthProvider[] {
  return oauthProviders.filter((provider) => user[`${provider}Id`] !== undefined)
}

export function requireSignInMethod({ passwordHash, githubId, googleId }: User): void {
  if ((passwordHash ?? githubId ?? googleId) === undefined) throw new WriteRejected('only_sign_in')
}
