/** The mails that are sent, as text: nothing in them that a link scanner could set off. */
import type { Telling } from '../alerts/telling.ts'
import type { Mail } from './mailer.ts'

export function inviteMail(to: string, { url, ticket }: { url: string; ticket: string }): Mail {
  return {
    to,
    subject: 'Your invitation to Ferryhook',
    text: `You are invited to make an account. The link works once, within seven days:

${url}

For the API, the invite is ${ticket}

If you do not know why you get this, ignore it.
`,
  }
}

export function resetMail(to: string, { url, ticket }: { url: string; ticket: string }): Mail {
  return {
    to,
    subject: 'Set a new password for Ferryhook',
    text: `Somebody, most likely you, asked for a new password. The link works once, within a day:

${url}

For the API, the ticket is ${ticket}

If it was not you, ignore this: your password stays as it is.
`,
  }
}

export function alertMail(to: string, telling: Telling, publicUrl: string): Mail {
  const { summary, data, count } = telling
  const facts = Object.entries({ ...data, ...(count > 1 && { count }) })
  return {
    to,
    subject: `Ferryhook: ${summary}`,
    text: `${summary}

${facts.map(([name, value]) => `${name}: ${value}`).join('\n')}

Server: ${publicUrl}
Alerts are changed, and turned off, with PUT /v1/alerts of its API.
`,
  }
}
