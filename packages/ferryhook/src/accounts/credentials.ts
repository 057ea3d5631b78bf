/** Passwords: signing in with one, changing it, and setting a new one with a link of an operator. */
import { createHash } from 'node:crypto'
import { requestError, serverError } from '@strongroom/kit/http/errors'
import type { Principal } from '../auth/principal.ts'
import type { RateGuard } from '../auth/rate-guard.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import { normalEmail, type User } from '../items/user.ts'
import { type Passwords, UnusablePassword } from '../sandbox/passwords.ts'
import { ThreadFailed } from '../sandbox/thread-pool.ts'
import { asUserGone } from './user-gone.ts'

export interface Credentials {
  /** The hash to store; `request.invalid` if the password cannot be used. */
  hash(password: string, path: string): Promise<string>
  /** The user whose e-mail address and password these are. */
  check(given: { email: string; password: string; network: string }): Promise<User>
  /** That a signed-in user knows the password of the account, if it has one. */
  confirm(user: User, password: string | undefined): Promise<void>
  change(
    principal: Principal,
    given: { currentPassword?: string | undefined; newPassword: string },
  ): Promise<void>
  reset(given: { ticket: string; password: string; network: string }): Promise<void>
}

export function createCredentials(deps: {
  layer: Pick<DataLayer, 'users' | 'tickets' | 'refreshTokens'>
  passwords: Passwords
  sessions: Sessions
  rateGuard: RateGuard
}): Credentials {
  const { layer, passwords, sessions, rateGuard } = deps
  const { users, tickets } = layer

  async function hash(password: string, path: string): Promise<string> {
    try {
      return await passwords.hash(password).catch(whenBusy)
    } catch (error) {
      if (!(error instanceof UnusablePassword)) throw error
      throw requestError('invalid', { details: [{ path, message: error.message }] })
    }
  }

  const verify = (password: string, passwordHash: string | undefined) =>
    passwords.verify(password, passwordHash).catch(whenBusy)

  async function confirm(user: User, password: string | undefined): Promise<void> {
    if (user.passwordHash === undefined) return
    await rateGuard('password', user.userId)
    const isRight = password !== undefined && (await verify(password, user.passwordHash))
    if (!isRight) throw ferryhookError('wrong_password')
  }

  return {
    hash,
    confirm,

    async check({ email, password, network }) {
      const address = normalEmail(email)
      await rateGuard('login_network', network)
      await rateGuard('login', network, address)
      await rateGuard('login_email', address)
      const user = await users.getByEmail(address)
      // The same work whether or not there is such a user, or one with a password.
      const isRight = await verify(password, user?.passwordHash)
      if (!user || !isRight) throw ferryhookError('wrong_credentials')
      return user
    },

    async change({ user, actor, sessionId }, { currentPassword, newPassword }) {
      await confirm(user, currentPassword)
      const passwordHash = await hash(newPassword, 'body.newPassword')
      const by = { actor, action: 'account.password_changed' } as const
      const { userId } = user
      const also =
        sessionId === undefined
          ? []
          : [layer.refreshTokens.keepPart(userId, sessionId, { passwordHash })]
      // Whoever knew the old password is out, because their sessions are of that.
      await users.update(userId, { passwordHash }, { by, also, seen: user }).catch(asUserGone)
      await sessions.endAll(userId, { but: sessionId })
    },

    async reset({ ticket: text, password, network }) {
      await rateGuard('signup', network)
      const ticket = await tickets.get('password_reset', text)
      const user = ticket?.userId === undefined ? null : await users.getById(ticket.userId)
      // Whoever got another password or address since is not who the link was made for.
      if (!ticket || !user || ticket.replaces !== credentialsOf(user)) {
        throw ferryhookError('invalid_reset')
      }
      const { userId } = user
      const passwordHash = await hash(password, 'body.password')
      const by = { actor: `user:${userId}`, action: 'account.password_reset' } as const
      await users
        .resetPassword(user, passwordHash, { ticket: tickets.usePart(ticket), by })
        .catch((error: unknown) => {
          throw error instanceof Refused ? ferryhookError('invalid_reset') : error
        })
      await sessions.endAll(userId)
    },
  }
}

/** What somebody signs in with, as a link to replace it knows it. */
export function credentialsOf({ email, passwordHash = '' }: User): string {
  return createHash('sha256').update(`${email}\n${passwordHash}`).digest('hex')
}

/** More passwords wait to be hashed than can be in reasonable time. */
function whenBusy(error: unknown): never {
  if (!(error instanceof ThreadFailed)) throw error
  throw serverError('unavailable', { cause: error, headers: { 'retry-after': '5' } })
}
