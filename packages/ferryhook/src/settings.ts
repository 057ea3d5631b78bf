/** The settings of Ferryhook. */
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
import { parseHeaderName } from './events/header-name.ts'
import { plans } from './plans.ts'

export const ferryhookSettings = {
  FERRYHOOK_SIGNUP: {
    type: oneOf('open', 'invite', 'closed'),
    default: 'invite',
    description: 'Who can sign up: anyone, only people with an invite, or no one',
  },
  FERRYHOOK_DEFAULT_PLAN: {
    type: oneOf(...plans),
    default: 'team',
    description: 'The plan of new users. Operators can change the plan of a user later.',
  },
  FERRYHOOK_EVENT_LIMITS: {
    type: boolean(),
    default: true,
    description: 'Enforce the event limits of plans. Turn off if all events are your own.',
  },
  FERRYHOOK_ALLOWED_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Private networks that events may be sent to',
  },
  FERRYHOOK_ALLOW_HTTP: {
    type: boolean(),
    default: false,
    description: 'Allow destinations with unencrypted http URLs',
  },
  FERRYHOOK_SHARED_ADDRESS: {
    type: boolean(),
    default: false,
    description:
      'Allow destinations that have the IP address and port of PUBLIC_URL, such as other sites behind the same proxy',
  },
  FERRYHOOK_DELIVER: {
    type: boolean(),
    default: true,
    description:
      'Deliver events from the server process. Turn off if "strongroom worker" delivers them.',
  },
  FERRYHOOK_EXEMPT_HEADERS: {
    type: list(header()),
    default: [],
    description:
      'Headers to store and deliver although their names look like credentials, such as x-routing-key',
  },
  FERRYHOOK_SMTP_URL: {
    type: smtpUrl(),
    secret: true,
    description: 'The mail server for alerts, invites and password resets',
  },
  FERRYHOOK_MAIL_FROM: {
    type: text(),
    description: 'The sender address of mails, such as Ferryhook <hooks@example.com>',
  },
  FERRYHOOK_GITHUB_CLIENT_ID: {
    type: text(),
    description:
      'The client ID of a GitHub OAuth app, for sign-in. Also requires its client secret.',
  },
  FERRYHOOK_GITHUB_CLIENT_SECRET: {
    type: text(),
    secret: true,
    description: 'The client secret of the GitHub OAuth app',
  },
  FERRYHOOK_GITHUB_URL: {
    type: url(),
    default: 'https://github.com',
    description: 'The URL of GitHub or of a GitHub Enterprise Server',
  },
  FERRYHOOK_GITHUB_API_URL: {
    type: url(),
    default: 'https://api.github.com',
    description: 'The URL of the GitHub API. For an Enterprise Server, its URL with /api/v3.',
  },
  FERRYHOOK_GOOGLE_CLIENT_ID: {
    type: text(),
    description:
      'The client ID of a Google OAuth client, for sign-in. Also requires its client secret.',
  },
  FERRYHOOK_GOOGLE_CLIENT_SECRET: {
    type: text(),
    secret: true,
    description: 'The client secret of the Google OAuth client',
  },
  FERRYHOOK_GOOGLE_ISSUER: {
    type: url(),
    default: 'https://accounts.google.com',
    description: 'The issuer URL of Google or of another OpenID provider',
  },
} as const satisfies ConfigTable

export type FerryhookSettings = ConfigValues<typeof ferryhookSettings>

function header(): ConfigType<string> {
  return {
    expects: 'the name of a header',
    parse: parseHeaderName,
    format: String,
  }
}

function smtpUrl(): ConfigType<string> {
  return {
    expects: 'an address like smtps://user:password@mail.example.com or smtp://localhost:25',
    parse: (value) => (/^smtps?:\/\/[^\s/]+\/?(?:\?\S*)?$/.test(value) ? value : undefined),
    format: String,
  }
}
