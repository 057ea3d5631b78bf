/** Sends mail, if the operator has configured a mail server. */
import { invalidConfig } from '@strongroom/kit/config'
import type { FerryhookSettings } from '../settings.ts'

export interface Mail {
  to: string
  subject: string
  text: string
}

export interface Mailer {
  /** Never rejects because of the mail server. */
  send(mail: Mail): Promise<MailResult>
  close(): void
}

/** `sent` means that the mail server accepted the mail. */
export type MailResult = { kind: 'sent' } | { kind: 'failed'; reason: string }

type MailSettings = Pick<FerryhookSettings, 'FERRYHOOK_SMTP_URL' | 'FERRYHOOK_MAIL_FROM'>

const TIMEOUT_MS = 10_000

/** Undefined if no mail server is configured. */
export async function openMailer(settings: MailSettings): Promise<Mailer | undefined> {
  const { FERRYHOOK_SMTP_URL: url, FERRYHOOK_MAIL_FROM: from } = settings
  if ((url === undefined) !== (from === undefined)) {
    throw invalidConfig([
      'FERRYHOOK_SMTP_URL and FERRYHOOK_MAIL_FROM belong together. Set both or neither.',
    ])
  }
  if (url === undefined) return undefined
  // Load the library only if it is needed.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Mails contain only our own text, never a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text }) {
      // An object, because a comma in a text would separate two addresses.
      const mail = { from, to: { name: '', address: to }, subject, text }
      try {
        await transport.sendMail(mail)
        return { kind: 'sent' }
      } catch (error) {
        return { kind: 'failed', reason: failureReason(error) }
      }
    },
    close: () => transport.close(),
  }
}

/** Only the codes, because the text of the mail server contains the address of the recipient. */
function failureReason(error: unknown): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  const codes = [code, responseCode].filter((each) => each !== undefined).join(', ')
  return `The mail server rejected the mail (${codes || 'no code'}). See its log.`
}
