/** The texts of mails. No link in them has an effect when a link scanner opens it. */
import type { AlertMessage } from '../alerts/alert.ts'
import type { Mail } from './mailer.ts'

export function inviteMail(to: string, { url, ticket }: { url: string; ticket: string }): Mail {
  return {
    to,
    subject: 'Your invitation to Ferryhook',
    text: `You are invited to create a Ferryhook account. This link works once, within seven days:

${url}

To sign up through the API, use this invite: ${ticket}

If you did not expect this invitation, you can ignore it.
`,
  }
}

export function resetMail(to: string, { url, ticket }: { url: string; ticket: string }): Mail {
  return {
    to,
    subject: 'Set a new password for Ferryhook',
    text: `You asked to reset your Ferryhook password. This link works once, within one day:

${url}

To reset it through the API, use this ticket: ${ticket}

If you did not ask for this, you can ignore it. Your password does not change.
`,
  }
}

export function operatorResetMail(to: string): Mail {
  return {
    to,
    subject: 'An operator created a password reset link for your Ferryhook account',
    text: `An operator of the server created a link that sets a new password for your account. The link
works once, within one day. The audit log of your account names the operator.

If you did not ask for it, contact the operator of the server.
`,
  }
}

export function secondFactorResetMail(to: string): Mail {
  return {
    to,
    subject: 'An operator removed the second factor of your Ferryhook account',
    text: `An operator of the server removed the second factor of your account and ended all its sessions.
Your password alone signs in now. The audit log of your account names the operator.

Set up a new second factor after you have signed in. If you did not ask for this, contact the operator
of the server.
`,
  }
}

export function verificationMail(
  to: string,
  { url, ticket }: { url: string; ticket: string },
): Mail {
  return {
    to,
    subject: 'Verify your address for Ferryhook',
    text: `Sign in to Ferryhook and open this link to verify your address. It works once, within one day:

${url}

To verify it through the API, use this ticket: ${ticket}

If you have no Ferryhook account, you can ignore this mail. Nothing happens unless you sign in.
`,
  }
}

export function alertMail(to: string, message: AlertMessage, publicUrl: string): Mail {
  const { summary, data, count } = message
  const details = Object.entries({ ...data, ...(count > 1 && { count }) })
  return {
    to,
    subject: `Ferryhook: ${summary}`,
    text: `${summary}

${details.map(([name, value]) => `${name}: ${value}`).join('\n')}

Server: ${publicUrl}
To change or turn off alerts, use PUT /v1/alerts of its API.
`,
  }
}
