/** Mails that somebody asked for. */
import type { Log } from '@strongroom/kit/log'
import type { Administration } from '../accounts/administration.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { ferryhookError } from '../errors.ts'
import { normalEmail } from '../items/user.ts'
import type { Mailer } from './mailer.ts'
import { inviteMail, resetMail } from './mails.ts'

/** The address of the page where a ticket is used. */
type PageOf = (ticket: string) => string

export function createLetters(deps: {
  layer: Pick<DataLayer, 'users' | 'rates'>
  administration: Pick<Administration, 'invite' | 'offerPasswordReset'>
  mailer: Mailer | undefined
  log: Log
}) {
  const { layer, administration, log } = deps
  const underWay = new Set<Promise<void>>()

  function mailer(): Mailer {
    if (!deps.mailer) throw ferryhookError('mail_not_configured')
    return deps.mailer
  }

  async function sendReset(email: string, pageOf: PageOf, by: Mailer): Promise<void> {
    const user = await layer.users.getByEmail(email)
    if (!user) return
    const { admitted } = await layer.rates.take('mail', user.userId)
    if (!admitted) return
    const { text } = await administration.offerPasswordReset('mail', user.userId)
    await by.send(resetMail(user.email, { url: pageOf(text), ticket: text }))
  }

  return {
    async invite(operator: string, email: string, pageOf: PageOf): Promise<void> {
      const by = mailer()
      const { text } = await administration.invite(operator)
      const mail = inviteMail(normalEmail(email), { url: pageOf(text), ticket: text })
      await by.send(mail).catch((cause: unknown) => {
        throw ferryhookError('mail_failed', { cause })
      })
    },

    /** Goes on beside the answer: how long it takes must not tell whether there is an account. */
    forgotten(email: string, pageOf: PageOf): void {
      const sent = sendReset(email, pageOf, mailer())
        .catch((error: unknown) => log.warn('A mail could not be sent', { error }))
        .finally(() => underWay.delete(sent))
      underWay.add(sent)
    },

    /** Resolves when all that was begun has ended. */
    async settled(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}

export type Letters = ReturnType<typeof createLetters>
