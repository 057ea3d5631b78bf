/** Passwords: signing in with one, changing it, and setting a new one with a reset link. */
import { createHash } from 'node:crypto'
import type { CountedNetworks } from '@strongroom/kit/http/client-address'
import { requestError } from '@strongroom/kit/http/errors'
import { ferryhookError, translate } from '../../errors.ts'
import type { EnforceRateLimit, IsWithinRateLimit } from '../../http/rate-limits.ts'
import type { Stores } from '../../stores.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import type { Clock } from '@strongroom/platform/clock'
import { WriteRejected } from '../../storage/write-rejected.ts'
import { type ApiKey, isRevoked } from '../api-keys/item.ts'
import { linkedIdentities } from '../users/identity.ts'
import { normalizeEmail, type OAuthProvider, type User } from '../users/item.ts'
import type { CredentialRevocation } from '../users/store.ts'
import type { PasswordHasher } from './password-hasher.ts'
import type { SessionService } from './service.ts'

export type PasswordService = ReturnType<typeof createPasswordService>

export function createPasswordService(deps: {
  stores: Pick<Stores, 'users' | 'tickets' | 'sessions' | 'apiKeys'>
  clock: Clock
  passwordHasher: PasswordHasher
  sessions: Pick<SessionService, 'endAll'>
  enforceRateLimit: EnforceRateLimit
  isWithinRateLimit: IsWithinRateLimit
}) {
  const { passwordHasher, sessions, enforceRateLimit, isWithinRateLimit } = deps
  const { users, tickets, apiKeys, sessions: sessionStore } = deps.stores
  const { clock } = deps

  /** The hash to store. Throws `request.invalid` for this path if the password cannot be used. */
  async function hash(
    password: string,
    path: string,
    by: { networks: CountedNetworks } | Pick<User, 'userId'>,
  ): Promise<string> {
    const owner = 'userId' in by ? by.userId : ownerOf(by.networks)
    const result = await passwordHasher.hash(password, owner)
    if (result.kind === 'hashed') return result.hash
    throw requestError('invalid', { details: [{ path, message: result.message }] })
  }

  /** Throws `wrong_password` unless this is the password of the account, if it has one. */
  async function confirm(user: User, password: string | undefined): Promise<void> {
    if (user.passwordHash === undefined) return
    await enforceRateLimit('password', user.userId)
    const isMatch =
      password !== undefined &&
      (await passwordHasher.verify(password, user.passwordHash, user.userId))
    if (!isMatch) throw ferryhookError('wrong_password')
  }

  /** The keys are invalid already; this removes their items. */
  async function removeRevokedKeys(userId: string, revocation: CredentialRevocation) {
    const keys = await apiKeys.listByUser(userId)
    const revoked = keys.filter((key) => isRevoked(key, revocation))
    const by = { actor: `user:${userId}`, action: 'api_key.deleted' } as const
    for (const { keyId } of revoked) {
      await apiKeys.delete(keyId, userId, { by }).catch((error: unknown) => {
        if (!(error instanceof WriteRejected)) throw error
      })
    }
    return { revoked, remaining: keys.filter((key) => !revoked.includes(key)) }
  }

  return {
    hash,
    confirm,

    /** The user with this e-mail address and password. */
    async check(input: {
      email: string
      password: string
      networks: CountedNetworks
    }): Promise<User> {
      const { password, networks } = input
      const email = normalizeEmail(input.email)
      await enforceRateLimit('login_network', networks)
      await enforceRateLimit('login', networks, email)
      // Guessing from many networks leaves few attempts to each of them, but some to the owner's.
      if (!(await isWithinRateLimit('login_email', email))) {
        await enforceRateLimit('login_attacked', networks, email)
      }
      const user = await users.getByEmail(email)
      // Takes as long for an unknown user, so that timing does not reveal who has an account.
      const owner = ownerOf(networks)
      const isMatch = await passwordHasher.verify(password, user?.passwordHash, owner)
      if (!user || !isMatch) throw ferryhookError('wrong_credentials')
      return user
    },

    async change(
      { user, actor, sessionId }: Principal,
      input: { currentPassword?: string | undefined; newPassword: string },
    ): Promise<void> {
      await confirm(user, input.currentPassword)
      const passwordHash = await hash(input.newPassword, 'body.newPassword', user)
      const { userId } = user
      const by = { actor, action: 'account.password_changed' } as const
      // Sessions are bound to the password: the new one ends all others in the same transaction.
      const extraParts =
        sessionId === undefined ? [] : [sessionStore.keepPart(userId, sessionId, { passwordHash })]
      await users
        .update(userId, { passwordHash }, { by, extraParts, expected: user })
        .catch(toAccountError)
      await sessions.endAll(userId, { except: sessionId })
    },

    async reset(input: {
      ticket: string
      password: string
      networks: CountedNetworks
    }): Promise<ResetCredentials> {
      await enforceRateLimit('signup', input.networks)
      const ticket = await tickets.get('password_reset', input.ticket)
      const user = ticket?.userId === undefined ? null : await users.getById(ticket.userId)
      // A link becomes invalid when the address or the password changes.
      if (!ticket || !user || ticket.replaces !== credentialFingerprint(user)) {
        throw ferryhookError('invalid_reset')
      }
      const { userId } = user
      const passwordHash = await hash(input.password, 'body.password', input)
      const by = { actor: `user:${userId}`, action: 'account.password_reset' } as const
      const revocation = revocationOf(user, clock.now())
      await users
        .resetPassword(user, passwordHash, { ticket: tickets.usePart(ticket), revocation, by })
        .catch(translate({ not_found: 'invalid_reset', ticket_used: 'invalid_reset' }))
      await sessions.endAll(userId)
      const { revoked, remaining } = await removeRevokedKeys(userId, revocation)
      return {
        revoked: { apiKeys: revoked, identities: revocation.identities },
        remaining: {
          apiKeys: remaining,
          identities: linkedIdentities(user).filter(
            (provider) => !revocation.identities.includes(provider),
          ),
        },
      }
    },
  }
}

/** What a reset revoked, and what is left for the user to confirm. */
export interface ResetCredentials {
  revoked: { apiKeys: ApiKey[]; identities: OAuthProvider[] }
  remaining: { apiKeys: ApiKey[]; identities: OAuthProvider[] }
}

/**
 * Until the address is verified, someone else may have signed up with it and created credentials. The
 * link is proof of the address, so if it is the first proof, nothing before it counts.
 */
function revocationOf(user: User, now: number): CredentialRevocation {
  const { emailVerifiedAt: verifiedAt, credentialsValidFrom: validFrom = '' } = user
  const emailVerifiedAt = verifiedAt ?? new Date(now).toISOString()
  // One millisecond later, so that a key of this very millisecond does not count either.
  const justNow = new Date(now + 1).toISOString()
  const since = verifiedAt ?? justNow
  return {
    emailVerifiedAt,
    credentialsValidFrom: since > validFrom ? since : validFrom,
    credentialsUnconfirmedSince: justNow,
    identities: linkedIdentities(user).filter(
      (provider) => (user[`${provider}LinkedAt`] ?? user.createdAt) < since,
    ),
  }
}

/** The widest network: someone with a /48 has only one turn. */
function ownerOf(networks: CountedNetworks): string {
  return (networks.at(-1) ?? networks[0]).network
}

/** Identifies the address and password that a reset link replaces. */
export function credentialFingerprint({ email, passwordHash = '' }: User): string {
  return createHash('sha256').update(`${email}\n${passwordHash}`).digest('hex')
}
