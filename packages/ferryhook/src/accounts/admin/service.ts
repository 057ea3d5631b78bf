/** What operators do for users: invite them, reset passwords and set plans. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { createInFlight, type InFlight } from '@strongroom/kit/in-flight'
import type { Log } from '@strongroom/kit/log'
import { ferryhookError, translate } from '../../errors.ts'
import type { LocalEvents } from '../../local-events.ts'
import type { Mailer } from '../../mail/mailer.ts'
import { inviteMail, operatorResetMail, resetMail } from '../../mail/templates.ts'
import type { Plan } from '../../plans.ts'
import type { PaginatedResult, Stores } from '../../stores.ts'
import { credentialFingerprint } from '../sessions/passwords.ts'
import { normalizeEmail, type User } from '../users/item.ts'
import type { IssuedTicket } from './ticket-store.ts'

const INVITE_SECONDS = 7 * 86_400
const RESET_SECONDS = 86_400

export interface PlanChange {
  plan: Plan
  /** Stored for a billing system; null removes it. */
  stripeCustomerId?: string | null | undefined
  stripeSubId?: string | null | undefined
}

/** Builds the URL of the page where a ticket is used. */
type PageUrl = (ticket: string) => string

export type AdminService = ReturnType<typeof createAdminService>

export function createAdminService(deps: {
  stores: Pick<Stores, 'users' | 'userListing' | 'tickets' | 'rateLimits' | 'notices'>
  localEvents: Pick<LocalEvents, 'userChanged'>
  mailer: Mailer | undefined
  log: Log
  /** The mails that are being sent. */
  inFlight?: InFlight
}) {
  const { stores, localEvents, log, inFlight = createInFlight() } = deps

  function requireMailer(): Mailer {
    if (!deps.mailer) throw ferryhookError('mail_not_configured')
    return deps.mailer
  }

  async function get(userId: string): Promise<User> {
    const user = await stores.users.getById(userId)
    if (!user) throw ferryhookError('user_not_found')
    return user
  }

  const invite = (operator: string): Promise<IssuedTicket> =>
    stores.tickets.create({
      kind: 'invite',
      createdBy: operator,
      lifetimeSeconds: INVITE_SECONDS,
    })

  async function createReset(
    user: User,
    operator: string,
    extraParts: TransactWriteItem[] = [],
  ): Promise<IssuedTicket> {
    return stores.tickets.create(
      {
        kind: 'password_reset',
        userId: user.userId,
        replaces: credentialFingerprint(user),
        createdBy: operator,
        lifetimeSeconds: RESET_SECONDS,
      },
      {
        by: { actor: `operator:${operator}`, action: 'account.password_reset_offered' },
        extraParts,
      },
    )
  }

  /** Does not wait for the mail server: the link exists whether or not it responds. */
  function notify({ email }: User): void {
    const { mailer } = deps
    if (!mailer) return
    const send = async () => {
      const result = await mailer.send(operatorResetMail(email))
      if (result.kind === 'failed') {
        log.warn('password reset notice mail failed', { reason: result.reason })
      }
    }
    void inFlight.track(
      send().catch((error: unknown) => log.warn('password reset notice mail failed', { error })),
    )
  }

  async function sendReset(mailer: Mailer, email: string, pageUrl: PageUrl): Promise<void> {
    const user = await stores.users.getByEmail(email)
    // Someone may have signed up with the address of another person.
    if (user?.emailVerifiedAt === undefined) return
    const { admitted } = await stores.rateLimits.take('mail', user.userId)
    if (!admitted) return
    const { text } = await createReset(user, 'mail')
    const mail = resetMail(user.email, { url: pageUrl(text), ticket: text })
    const result = await mailer.send(mail)
    if (result.kind === 'failed') log.warn('password reset mail failed', { reason: result.reason })
  }

  return {
    get,
    invite,

    /** The user gets a mail, if it is configured, and a notice at the next sign-ins. */
    async offerPasswordReset(operator: string, userId: string): Promise<IssuedTicket> {
      const user = await get(userId)
      const issued = await createReset(user, operator, [
        stores.notices.resetOfferedPart(userId, operator),
      ])
      notify(user)
      return issued
    },

    /** All users, or the one with this e-mail address. */
    async list(opts: {
      email?: string | undefined
      limit?: number
      cursor?: string | undefined
    }): Promise<PaginatedResult<User>> {
      if (opts.email === undefined) return stores.userListing.list(opts)
      const user = await stores.users.getByEmail(opts.email)
      return { items: user ? [user] : [], cursor: null }
    },

    async setPlan(operator: string, userId: string, change: PlanChange): Promise<User> {
      const { plan, ...stripe } = change
      const references = Object.fromEntries(
        Object.entries(stripe)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name, value ?? undefined]),
      )
      const actor = `operator:${operator}`
      const by = { actor, action: 'account.plan_changed', target: plan } as const
      const user = await stores.users
        .update(userId, { plan, ...references }, { by })
        .catch(translate({ not_found: 'user_not_found' }))
      localEvents.userChanged(userId)
      return user
    },

    async mailInvite(operator: string, email: string, pageUrl: PageUrl): Promise<void> {
      const mailer = requireMailer()
      const { text } = await invite(operator)
      const mail = inviteMail(normalizeEmail(email), { url: pageUrl(text), ticket: text })
      const result = await mailer.send(mail)
      if (result.kind === 'failed') {
        throw ferryhookError('mail_failed', { cause: new Error(result.reason) })
      }
    },

    /** Does not wait for the mail: the response time must not reveal whether the account exists. */
    mailPasswordReset(email: string, pageUrl: PageUrl): void {
      const sending = sendReset(requireMailer(), email, pageUrl).catch((error: unknown) =>
        log.warn('password reset mail failed', { error }),
      )
      void inFlight.track(sending)
    },

    /** Resolves when all mails that were started are sent or failed. */
    settled: (): Promise<void> => inFlight.settled(),
  }
}
