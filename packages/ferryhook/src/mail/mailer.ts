/** Mail, where the operator has configured a server for it. */
import { ConfigError } from '@strongroom/kit/config'
import type { FerryhookSettings } from '../settings.ts'

export interface Mail {
  to: string
  subject: string
  text: string
}

export interface Mailer {
  /** Resolves when the mail server has taken it. */
  send(mail: Mail): Promise<void>
  close(): void
}

/** What the mail server says names the address that it was about: only the codes are kept. */
class MailNotTaken extends Error {
  constructor(error: unknown) {
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    const codes = [code, responseCode].filter((each) => each !== undefined).join(', ')
    super(`The mail server did not take the mail (${codes || 'no code'}): see its log`)
  }
}

type MailSettings = Pick<FerryhookSettings, 'FERRYHOOK_SMTP_URL' | 'FERRYHOOK_MAIL_FROM'>

const TIMEOUT_MS = 10_000

/** Undefined where no mail is sent. */
export async function openMailer(settings: MailSettings): Promise<Mailer | undefined> {
  const { FERRYHOOK_SMTP_URL: url, FERRYHOOK_MAIL_FROM: from } = settings
  if ((url === undefined) !== (from === undefined)) {
    throw new ConfigError([
      'FERRYHOOK_SMTP_URL and FERRYHOOK_MAIL_FROM belong together: set both, or neither',
    ])
  }
  if (url === undefined) return undefined
  // Loaded only where it is needed.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // What is in a mail is text of ours, never a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text }) {
      // As an object: in a text, a comma would make two addresses of one.
      const mail = { from, to: { name: '', address: to }, subject, text }
      await transport.sendMail(mail).catch((error: unknown) => {
        throw new MailNotTaken(error)
      })
    },
    close: () => transport.close(),
  }
}
