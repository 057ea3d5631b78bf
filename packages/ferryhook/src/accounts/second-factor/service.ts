/**
 * Second factors of users: set up and removed in a session, and required to sign in once there is one.
 * After a password or a provider, a ticket stands for the sign-in until the factor is verified; the
 * write that records the verified factor uses the ticket up and begins the session.
 */
import type { SecretBox } from '@strongroom/kit/secret-box'
import { isEnrolled, type StoredSecondFactors } from '@strongroom/kit/second-factor/item'
import {
  createSecondFactors,
  type SecondFactors,
} from '@strongroom/kit/second-factor/second-factors'
import type {
  SecondFactorChange,
  SecondFactorProof,
  TotpBox,
} from '@strongroom/kit/second-factor/verification'
import type { Clock } from '@strongroom/platform/clock'
import { ferryhookError, translate } from '../../errors.ts'
import type { Stores } from '../../stores.ts'
import type { Ticket } from '../admin/ticket-store.ts'
import type { AuditInfo } from '../audit/store.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import type { ClientInfo } from '../sessions/item.ts'
import { credentialFingerprint, type PasswordService } from '../sessions/passwords.ts'
import type { SessionService, SessionTokens } from '../sessions/service.ts'
import type { OAuthProvider, User } from '../users/item.ts'
import type { GuardedPart } from './store.ts'

/** As long as the cookie of the browser. */
const PENDING_SECONDS = 600
const MAX_ATTEMPTS = 5

export type SecondFactorMethod = SecondFactorProof['method']

/** A sign-in whose first step succeeded. */
export interface PendingSignIn {
  /** Only the browser has it; the store has its hash. */
  token: string
  methods: SecondFactorMethod[]
}

/** How a user confirms a change of the factors. */
export interface Confirmation {
  currentPassword?: string | undefined
  secondFactor?: SecondFactorProof | undefined
}

interface FactorDeps {
  clock: Clock
  secretBox: SecretBox
  publicUrl: string
}

export type SecondFactorService = ReturnType<typeof createSecondFactorService>

export function createSecondFactorService(
  deps: FactorDeps & {
    stores: Pick<Stores, 'users' | 'tickets' | 'secondFactors'>
    passwords: Pick<PasswordService, 'confirm'>
    sessions: Pick<SessionService, 'prepare' | 'endAll'>
  },
) {
  const { stores, passwords, sessions } = deps

  /** The factors of a user, on a store that records who changes them. */
  function factorsOf(
    user: User,
    actor: string,
    onVerified: { by?: AuditInfo; parts?: readonly GuardedPart[] } = {},
  ): SecondFactors {
    return createSecondFactors({
      ...deps,
      box: totpBox(deps.secretBox),
      issuer: 'Ferryhook',
      store: {
        load: (userId) => stores.secondFactors.load(userId),
        replace(_, before, after, change) {
          const verified = change.kind === 'verified' ? onVerified : {}
          const by = [...auditOf(change, actor), ...(verified.by ? [verified.by] : [])]
          return stores.secondFactors.replace(user, {
            before,
            after,
            by,
            ...(verified.parts && { parts: verified.parts }),
          })
        },
      },
    })
  }

  const ownFactors = ({ user, actor }: Principal) => factorsOf(user, actor)

  /** Throws `sign_in_expired` unless the token is of a sign-in that waits for a factor. */
  async function findPending(token: string): Promise<{ ticket: Ticket; user: User }> {
    const ticket = await stores.tickets.get('sign_in', token)
    const user = ticket?.userId === undefined ? null : await stores.users.getById(ticket.userId)
    // A new password or address invalidates what the old one began.
    if (!ticket || !user || ticket.replaces !== credentialFingerprint(user)) {
      throw ferryhookError('sign_in_expired')
    }
    return { ticket, user }
  }

  /** Requires the password or a factor, so that an unattended browser is not enough. */
  async function confirm(principal: Principal, given: Confirmation): Promise<void> {
    const { user } = principal
    const context = contextOf(principal)
    if (given.secondFactor) {
      await ownFactors(principal)
        .verify(user.userId, { context, proof: given.secondFactor })
        .catch(toAccountError)
      return
    }
    const isProtected =
      user.passwordHash !== undefined || isEnrolled(await stores.secondFactors.load(user.userId))
    if (isProtected && given.currentPassword === undefined) {
      throw ferryhookError('confirmation_required')
    }
    if (isProtected && user.passwordHash === undefined) throw ferryhookError('wrong_password')
    await passwords.confirm(user, given.currentPassword)
  }

  /** Sessions from before the first factor would not have needed it. */
  async function endOthers(
    { user, sessionId }: Principal,
    { recoveryCodes }: { recoveryCodes: readonly string[] | undefined },
  ): Promise<void> {
    if (recoveryCodes) await sessions.endAll(user.userId, { except: sessionId })
  }

  return {
    /** Begins the second step; undefined if the user has no second factor. */
    async require(
      user: User,
      { provider }: { provider?: OAuthProvider } = {},
    ): Promise<PendingSignIn | undefined> {
      const factors = await stores.secondFactors.load(user.userId)
      if (!factors || !isEnrolled(factors)) return undefined
      const { text } = await stores.tickets.create({
        kind: 'sign_in',
        userId: user.userId,
        replaces: credentialFingerprint(user),
        ...(provider && { provider }),
        attemptsLeft: MAX_ATTEMPTS,
        createdBy: 'sign-in',
        lifetimeSeconds: PENDING_SECONDS,
      })
      return { token: text, methods: methodsOf(factors) }
    },

    /** What the second step accepts. */
    async pending(token: string): Promise<{ methods: SecondFactorMethod[]; expiresAt: number }> {
      const { ticket, user } = await findPending(token)
      const factors = await stores.secondFactors.load(user.userId)
      if (!factors || !isEnrolled(factors)) throw ferryhookError('sign_in_expired')
      return { methods: methodsOf(factors), expiresAt: ticket.expiresAt }
    },

    /** The options for a passkey; undefined without one. */
    async startPasskeySignIn(token: string) {
      const { ticket, user } = await findPending(token)
      return factorsOf(user, `user:${user.userId}`)
        .startVerification(user.userId, { context: ticket.ticketHash })
        .catch(translate({ password_changed: 'sign_in_expired' }))
    },

    /** Counts the attempt before it checks the factor, so that concurrent ones cannot exceed the limit. */
    async finish(
      token: string,
      proof: SecondFactorProof,
      client?: ClientInfo,
    ): Promise<SessionTokens> {
      const { ticket, user } = await findPending(token)
      if (!(await stores.tickets.countAttempt(ticket))) throw ferryhookError('sign_in_expired')
      const actor = `user:${user.userId}`
      const session = await sessions.prepare(user, client)
      const by: AuditInfo = { actor, action: 'account.signed_in', target: ticket.provider }
      const parts: GuardedPart[] = [
        { part: stores.tickets.usePart(ticket), reason: 'ticket_used' },
        { part: session.part, reason: 'ticket_used' },
      ]
      await factorsOf(user, actor, { by, parts })
        .verify(user.userId, { context: ticket.ticketHash, proof })
        .catch(translate({ ticket_used: 'sign_in_expired', password_changed: 'sign_in_expired' }))
      return session.tokens
    },

    summary: ({ user, actor }: Principal) => factorsOf(user, actor).summary(user.userId),

    /** The options to confirm a change with a passkey; undefined without one. */
    startConfirmation: (principal: Principal) =>
      ownFactors(principal)
        .startVerification(principal.user.userId, { context: contextOf(principal) })
        .catch(toAccountError),

    async startTotp(principal: Principal, confirmation: Confirmation) {
      await confirm(principal, confirmation)
      const { user } = principal
      return ownFactors(principal)
        .startTotp(user.userId, { context: contextOf(principal), account: user.email })
        .catch(toAccountError)
    },

    async confirmTotp(principal: Principal, code: string) {
      const context = contextOf(principal)
      const enrolment = await ownFactors(principal)
        .confirmTotp(principal.user.userId, { context, code })
        .catch(toAccountError)
      await endOthers(principal, enrolment)
      return enrolment
    },

    async removeTotp(principal: Principal, confirmation: Confirmation): Promise<void> {
      await confirm(principal, confirmation)
      await ownFactors(principal).removeTotp(principal.user.userId).catch(toAccountError)
    },

    async startPasskey(principal: Principal, confirmation: Confirmation) {
      await confirm(principal, confirmation)
      const { user } = principal
      return ownFactors(principal)
        .startPasskey(user.userId, { context: contextOf(principal), account: user.email })
        .catch(toAccountError)
    },

    async confirmPasskey(
      principal: Principal,
      given: { name: string; response: PasskeyRegistration },
    ) {
      const enrolment = await ownFactors(principal)
        .confirmPasskey(principal.user.userId, { context: contextOf(principal), ...given })
        .catch(toAccountError)
      await endOthers(principal, enrolment)
      return enrolment
    },

    renamePasskey: (principal: Principal, id: string, name: string): Promise<void> =>
      ownFactors(principal).renamePasskey(principal.user.userId, id, name).catch(toAccountError),

    async removePasskey(
      principal: Principal,
      id: string,
      confirmation: Confirmation,
    ): Promise<void> {
      await confirm(principal, confirmation)
      await ownFactors(principal).removePasskey(principal.user.userId, id).catch(toAccountError)
    },

    async replaceRecoveryCodes(
      principal: Principal,
      confirmation: Confirmation,
    ): Promise<readonly string[]> {
      await confirm(principal, confirmation)
      return ownFactors(principal).replaceRecoveryCodes(principal.user.userId).catch(toAccountError)
    },
  }
}

/** What a browser returns from `navigator.credentials.create`, as JSON. */
type PasskeyRegistration = Parameters<SecondFactors['confirmPasskey']>[1]['response']

/** The session: a challenge of another one does not count in it. */
function contextOf({ sessionId }: Principal): string {
  if (sessionId === undefined) throw ferryhookError('session_required')
  return sessionId
}

function methodsOf(factors: StoredSecondFactors): SecondFactorMethod[] {
  return [
    ...(factors.passkeys && factors.passkeys.length > 0 ? (['passkey'] as const) : []),
    ...(factors.totp ? (['totp'] as const) : []),
    ...(factors.recoveryCodes && factors.recoveryCodes.length > 0
      ? (['recovery_code'] as const)
      : []),
  ]
}

/** The entries of the account's audit log for a change. */
function auditOf(change: SecondFactorChange, actor: string): AuditInfo[] {
  switch (change.kind) {
    case 'totp_added':
      return [{ actor, action: 'account.second_factor_added', target: 'totp' }]
    case 'passkey_added':
      return [{ actor, action: 'account.second_factor_added', target: 'passkey' }]
    case 'totp_removed':
      return [{ actor, action: 'account.second_factor_removed', target: 'totp' }]
    case 'passkey_removed':
      return [{ actor, action: 'account.second_factor_removed', target: 'passkey' }]
    case 'recovery_codes_replaced':
      return [{ actor, action: 'account.recovery_codes_replaced' }]
    case 'removed_all':
      return [{ actor, action: 'account.second_factor_reset' }]
    case 'failed':
      return change.isLocked ? [{ actor, action: 'account.second_factor_locked' }] : []
    case 'verified':
      return change.method === 'recovery_code'
        ? [{ actor, action: 'account.recovery_code_used' }]
        : []
    case 'passkey_renamed':
    case 'started':
      return []
  }
}

/** Seals the secrets of apps for the user whose they are. */
function totpBox(box: SecretBox): TotpBox {
  const place = (userId: string) => ({
    service: 'ferryhook',
    tenant: userId,
    entity: userId,
    attribute: 'totp',
  })
  return {
    seal: (secret, userId) => box.seal(secret, place(userId)),
    open: (sealed, userId) => box.open(sealed, place(userId)),
  }
}
