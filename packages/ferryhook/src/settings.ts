/** The settings of Ferryhook, and what follows from them. */
import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import {
  boolean,
  type ConfigType,
  list,
  network,
  oneOf,
  text,
  url,
} from '@strongroom/kit/config-types'
import type { SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { plans } from './plans.ts'

export const ferryhookSettings = {
  FERRYHOOK_SIGNUP: {
    type: oneOf('open', 'invite', 'closed'),
    default: 'invite',
    description: 'Who may make an account: anybody, those with an invite of an operator, or nobody',
  },
  FERRYHOOK_DEFAULT_PLAN: {
    type: oneOf(...plans),
    default: 'team',
    description: 'The plan of new users; operators change it for each',
  },
  FERRYHOOK_EVENT_LIMITS: {
    type: boolean(),
    default: true,
    description:
      'Whether plans limit events per minute and month; turn off for your own events only',
  },
  FERRYHOOK_ALLOWED_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Networks that events may be sent into although they are not public',
  },
  FERRYHOOK_ALLOW_HTTP: {
    type: boolean(),
    default: false,
    description: 'Whether events may be sent to http URLs, unencrypted',
  },
  FERRYHOOK_DELIVER: {
    type: boolean(),
    default: true,
    description: 'Whether the server delivers too; turn off where "strongroom worker" does',
  },
  FERRYHOOK_SMTP_URL: {
    type: smtpUrl(),
    secret: true,
    description: 'The mail server for alerts, invites and forgotten passwords',
  },
  FERRYHOOK_MAIL_FROM: {
    type: text(),
    description: 'The sender of mails, such as Ferryhook <hooks@example.com>',
  },
  FERRYHOOK_GITHUB_CLIENT_ID: {
    type: text(),
    description: 'The OAuth app at GitHub, to sign in with; also needs its secret',
  },
  FERRYHOOK_GITHUB_CLIENT_SECRET: {
    type: text(),
    secret: true,
    description: 'The secret of the OAuth app at GitHub',
  },
  FERRYHOOK_GITHUB_URL: {
    type: url(),
    default: 'https://github.com',
    description: 'GitHub, or a GitHub Enterprise Server',
  },
  FERRYHOOK_GITHUB_API_URL: {
    type: url(),
    default: 'https://api.github.com',
    description: 'The API of GitHub; of an Enterprise Server its address with /api/v3',
  },
  FERRYHOOK_GOOGLE_CLIENT_ID: {
    type: text(),
    description: 'The OAuth client at Google, to sign in with; also needs its secret',
  },
  FERRYHOOK_GOOGLE_CLIENT_SECRET: {
    type: text(),
    secret: true,
    description: 'The secret of the OAuth client at Google',
  },
  FERRYHOOK_GOOGLE_ISSUER: {
    type: url(),
    default: 'https://accounts.google.com',
    description: 'Google, or another OpenID provider in its place',
  },
} as const satisfies ConfigTable

export type FerryhookSettings = ConfigValues<typeof ferryhookSettings>

/** Where events, tests of destinations and alerts may be sent. */
export function destinationPolicy(
  settings: Pick<FerryhookSettings, 'FERRYHOOK_ALLOWED_NETWORKS' | 'FERRYHOOK_ALLOW_HTTP'>,
): Pick<SafeFetchOptions, 'allow' | 'allowHttp' | 'ports' | 'userAgent'> {
  return {
    allow: settings.FERRYHOOK_ALLOWED_NETWORKS,
    allowHttp: settings.FERRYHOOK_ALLOW_HTTP,
    ports: 'unprivileged',
    userAgent: 'Ferryhook/1.0',
  }
}

function smtpUrl(): ConfigType<string> {
  return {
    expects: 'an address like smtps://user:password@mail.example.com or smtp://localhost:25',
    parse: (given) => (/^smtps?:\/\/[^\s/]+\/?(?:\?\S*)?$/.test(given) ? given : undefined),
    format: String,
  }
}
