/**
 * Verifies e-mail addresses by mail. The ticket works only for the signed-in user that it was mailed to:
 * if someone signs up with the address of another person, that person's click must not verify it.
 */
import { createHash } from 'node:crypto'
import { createInFlight } from '@strongroom/kit/in-flight'
import type { Log } from '@strongroom/kit/log'
import { ferryhookError, translate } from '../../errors.ts'
import type { Mailer } from '../../mail/mailer.ts'
import { verificationMail } from '../../mail/templates.ts'
import type { Stores } from '../../stores.ts'
import type { Principal } from '../authentication.ts'
import type { User } from './item.ts'

const TICKET_SECONDS = 86_400

/** Builds the URL of the page where a ticket is used. */
type PageUrl = (ticket: string) => string

export type EmailVerification = ReturnType<typeof createEmailVerification>

export function createEmailVerification(deps: {
  stores: Pick<Stores, 'users' | 'tickets' | 'rateLimits'>
  mailer: Mailer | undefined
  log: Log
}) {
  const { stores, mailer, log } = deps
  const { users, tickets, rateLimits } = stores
  const inFlight = createInFlight()

  async function mail(to: Mailer, user: User, pageUrl: PageUrl): Promise<void> {
    const { userId, email } = user
    const { admitted } = await rateLimits.take('mail', userId)
    if (!admitted) return
    const { text } = await tickets.create({
      kind: 'email_verification',
      userId,
      replaces: addressFingerprint(email),
      createdBy: 'mail',
      lifetimeSeconds: TICKET_SECONDS,
    })
    const result = await to.send(verificationMail(email, { url: pageUrl(text), ticket: text }))
    if (result.kind === 'failed') log.warn('verification mail failed', { reason: result.reason })
  }

  /** Does nothing if mail is not configured or the address is verified. Does not wait for the mail. */
  function start(user: User, pageUrl: PageUrl): void {
    if (!mailer || user.emailVerifiedAt !== undefined) return
    const sending = mail(mailer, user, pageUrl).catch((error: unknown) =>
      log.warn('verification mail failed', { error }),
    )
    void inFlight.track(sending)
  }

  return {
    start,

    /** Throws `mail_not_configured`. */
    request(user: User, pageUrl: PageUrl): void {
      if (!mailer) throw ferryhookError('mail_not_configured')
      start(user, pageUrl)
    },

    async confirm({ user, actor }: Principal, text: string): Promise<User> {
      const ticket = await tickets.get('email_verification', text)
      const isOwn = ticket?.userId === user.userId
      if (!ticket || !isOwn || ticket.replaces !== addressFingerprint(user.email)) {
        throw ferryhookError('invalid_verification')
      }
      const by = { actor, action: 'account.email_verified' } as const
      return users
        .verifyEmail(user, { ticket: tickets.usePart(ticket), by })
        .catch(translate({ ticket_used: 'invalid_verification' }))
    },

    /** Resolves when all mails that were started are sent or failed. */
    settled: (): Promise<void> => inFlight.settled(),
  }
}

function addressFingerprint(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}
