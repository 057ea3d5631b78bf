/** Passwords: signing in with one, changing it, and setting a new one with a reset link. */
import { createHash } from 'node:crypto'
import { requestError } from '@strongroom/kit/http/errors'
import { ferryhookError, translate } from '../../errors.ts'
import type { EnforceRateLimit } from '../../http/rate-limits.ts'
import type { Stores } from '../../stores.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import { normalizeEmail, type User } from '../users/item.ts'
import type { PasswordHasher } from './password-hasher.ts'
import type { SessionService } from './service.ts'

export type PasswordService = ReturnType<typeof createPasswordService>

export function createPasswordService(deps: {
  stores: Pick<Stores, 'users' | 'tickets' | 'sessions'>
  passwordHasher: PasswordHasher
  sessions: Pick<SessionService, 'endAll'>
  enforceRateLimit: EnforceRateLimit
}) {
  const { passwordHasher, sessions, enforceRateLimit } = deps
  const { users, tickets, sessions: sessionStore } = deps.stores

  /** The hash to store. Throws `request.invalid` for this path if the password cannot be used. */
  async function hash(password: string, path: string): Promise<string> {
    const result = await passwordHasher.hash(password)
    if (result.kind === 'hashed') return result.hash
    throw requestError('invalid', { details: [{ path, message: result.message }] })
  }

  /** Throws `wrong_password` unless this is the password of the account, if it has one. */
  async function confirm(user: User, password: string | undefined): Promise<void> {
    if (user.passwordHash === undefined) return
    await enforceRateLimit('password', user.userId)
    const isMatch =
      password !== undefined && (await passwordHasher.verify(password, user.passwordHash))
    if (!isMatch) throw ferryhookError('wrong_password')
  }

  return {
    hash,
    confirm,

    /** The user with this e-mail address and password. */
    async check(input: { email: string; password: string; network: string }): Promise<User> {
      const { password, network } = input
      const email = normalizeEmail(input.email)
      await enforceRateLimit('login_network', network)
      await enforceRateLimit('login', network, email)
      await enforceRateLimit('login_email', email)
      const user = await users.getByEmail(email)
      // Takes as long for an unknown user, so that timing does not reveal who has an account.
      const isMatch = await passwordHasher.verify(password, user?.passwordHash)
      if (!user || !isMatch) throw ferryhookError('wrong_credentials')
      return user
    },

    async change(
      { user, actor, sessionId }: Principal,
      input: { currentPassword?: string | undefined; newPassword: string },
    ): Promise<void> {
      await confirm(user, input.currentPassword)
      const passwordHash = await hash(input.newPassword, 'body.newPassword')
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

    async reset(input: { ticket: string; password: string; network: string }): Promise<void> {
      await enforceRateLimit('signup', input.network)
      const ticket = await tickets.get('password_reset', input.ticket)
      const user = ticket?.userId === undefined ? null : await users.getById(ticket.userId)
      // A link becomes invalid when the address or the password changes.
      if (!ticket || !user || ticket.replaces !== credentialFingerprint(user)) {
        throw ferryhookError('invalid_reset')
      }
      const { userId } = user
      const passwordHash = await hash(input.password, 'body.password')
      const by = { actor: `user:${userId}`, action: 'account.password_reset' } as const
      await users
        .resetPassword(user, passwordHash, { ticket: tickets.usePart(ticket), by })
        .catch(translate({ not_found: 'invalid_reset', ticket_used: 'invalid_reset' }))
      await sessions.endAll(userId)
    },
  }
}

/** Identifies the address and password that a reset link replaces. */
export function credentialFingerprint({ email, passwordHash = '' }: User): string {
  return createHash('sha256').update(`${email}\n${passwordHash}`).digest('hex')
}
