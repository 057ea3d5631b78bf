/** Requests and responses of the operator routes. Responses never contain a secret or token. */
import { z } from '@hono/zod-openapi'
import { APP_NAME, SLACK_ID } from '../slack-ids.ts'
import { installationScopes, installationUrls } from '../installations/addresses.ts'
import { type AppItem, AppPolicy } from './item.ts'
import { decisionOutcomes, type RecordedDecision } from './recent-decisions.ts'
import type { SigningSecrets } from './signing-secrets.ts'

export const AppName = z
  .string()
  .regex(APP_NAME, {
    message: 'Must be 1 to 32 lower-case letters, digits and hyphens',
  })
  .openapi({ example: 'deploy-bot' })

export const TeamId = z
  .string()
  .regex(new RegExp(`^${SLACK_ID}$`), {
    message: 'Must be the id of a team or organisation: T… or E…',
  })
  .openapi({ example: 'T00000001' })

const SlackAppId = z
  .string()
  .regex(/^A[A-Z0-9]{1,31}$/, { message: 'Must be the app’s id at Slack: A…' })
  .openapi({ example: 'A00000001', description: 'Requests that name another app are rejected' })

export const SigningSecret = z
  .string()
  .regex(/^[\x21-\x7e]{8,256}$/, { message: 'Must be the app’s signing secret at Slack' })
  .refine((secret) => !/^(?:xox[a-z]-|xapp-)/.test(secret), {
    message: 'This is a token. Use the signing secret.',
  })
  .openapi({ example: '8f742231b10e8888abcd99yyyzzz85a5' })

export const BotToken = z
  .string()
  .regex(/^(?:xoxe\.)?xoxb-[\w-]{6,500}$/, { message: 'Must be a bot token: xoxb-…' })
  .openapi({ example: 'xoxb-fake-00000001' })

const UpstreamInput = z.strictObject({
  url: z.string().max(2_048).openapi({ example: 'https://bot.example.com/slack/events' }),
  kind: z.enum(['app', 'ferryhook']).default('app').openapi({
    description: '`ferryhook`: the URL is that of a Ferryhook source, which stores every request',
  }),
})

const Policy = AppPolicy.openapi('TwoKeyPolicy')

const InstallationInput = z.strictObject({
  clientId: z
    .string()
    .regex(/^[\w.-]{1,100}$/, { message: 'Must be the app’s client id at Slack' })
    .openapi({ example: '1234567890.1234567890' }),
  clientSecret: z
    .string()
    .regex(/^[\x21-\x7e]{8,256}$/, { message: 'Must be the app’s client secret at Slack' })
    .optional()
    .openapi({
      example: 'e1b9e11dfcd19c1982d5de12921e17e8',
      description: 'Stored encrypted and never returned; omitted, the stored one is kept',
    }),
  scopes: z
    .array(z.string().regex(/^[a-z][a-z0-9_.:]{1,63}$/, { message: 'Must be a scope of Slack' }))
    .max(100)
    .optional()
    .openapi({
      example: ['chat:write', 'commands'],
      description: 'The app’s bot scopes, besides those that Two-key needs',
    }),
})

export const NewApp = z.strictObject({
  name: AppName,
  appId: SlackAppId.optional(),
  signingSecret: SigningSecret,
  upstream: UpstreamInput,
  policy: Policy.default({}),
  installation: InstallationInput.optional(),
})

export const AppChange = z.strictObject({
  appId: SlackAppId.nullable().optional(),
  upstream: UpstreamInput.optional(),
  policy: Policy.optional(),
  installation: InstallationInput.nullable()
    .optional()
    .openapi({ description: 'Null ends the installation through this server' }),
})

export const AppView = z
  .object({
    name: AppName,
    appId: SlackAppId.nullable(),
    url: z.string().openapi({
      description: 'The request URL to set at Slack, for events, commands and interactivity',
      example: 'https://strongroom.example/two-key/slack/deploy-bot/events',
    }),
    upstream: z.object({ url: z.string(), kind: z.enum(['app', 'ferryhook']) }),
    policy: Policy,
    signingSecrets: z
      .array(z.object({ createdAt: z.string(), expiresAt: z.string().nullable() }))
      .openapi({ description: 'The active ones, the newest first; never the secrets themselves' }),
    installation: z
      .object({
        clientId: z.string(),
        scopes: z.array(z.string()).openapi({ description: 'All that an installation asks for' }),
        installUrl: z.string().openapi({
          description: 'The link for “Add to Slack”',
          example: 'https://strongroom.example/two-key/slack/deploy-bot/install',
        }),
        redirectUrl: z.string().openapi({
          description: 'Add it to the redirect URLs of the app at Slack',
          example: 'https://strongroom.example/two-key/slack/deploy-bot/oauth/callback',
        }),
      })
      .nullable()
      .openapi({ description: 'Null if workspaces cannot install the app through this server' }),
    createdAt: z.string(),
  })
  .openapi('TwoKeyApp')

export const TokenView = z.object({ team: TeamId, installedAt: z.string() })

export const DecisionView = z.object({
  number: z.int().openapi({ description: 'Counts the decisions of the process that responds' }),
  at: z.string(),
  durationMs: z.number(),
  outcome: z.enum(decisionOutcomes),
  code: z.string().openapi({
    description: 'The documented code of a rejection, or what verified the request',
    example: 'user_not_found',
  }),
  stage: z.enum(['signature', 'payload', 'existence']),
  type: z.string().nullable().openapi({
    description: 'Slack’s name of the payload; null if it could not be read',
    example: 'slash_command',
  }),
  user: z.enum(['verified', 'unchecked']).nullable().openapi({
    description: '`unchecked`: the request names nobody whom Slack can confirm. Null if rejected',
  }),
  channel: z.enum(['verified', 'unseen', 'unchecked']).nullable().openapi({
    description:
      '`unseen`: Slack does not show the channel to the bot, so it may not exist. Null if rejected',
  }),
  missingScopes: z.array(z.string()).openapi({
    description: 'The scopes that the bot token needs, as Slack names them',
  }),
  ids: z
    .object({
      team: z.string(),
      enterprise: z.string().optional(),
      user: z.string().optional(),
      bot: z.string().optional(),
      channel: z.string().optional(),
      otherTeams: z.array(z.string()).readonly().optional(),
    })
    .nullable(),
})

export const DecisionCountsView = z.object({
  from: z.string(),
  accepted: z.int(),
  refused: z.int(),
  undecidable: z.int(),
})

export function toAppView(
  { SK: name, appId, upstream, policy, clientId, scopes, createdAt }: AppItem,
  secrets: SigningSecrets,
  base: string,
): z.infer<typeof AppView> {
  const installation =
    clientId === undefined
      ? null
      : { clientId, scopes: installationScopes(scopes), ...installationUrls(base, name) }
  return {
    name,
    appId: appId ?? null,
    url: `${base}/slack/${name}/events`,
    upstream,
    policy,
    signingSecrets: secrets.map((secret) => ({
      createdAt: isoTime(secret.createdAt),
      expiresAt: secret.expiresAt === undefined ? null : isoTime(secret.expiresAt),
    })),
    installation,
    createdAt: isoTime(createdAt),
  }
}

export function toDecisionView(decision: RecordedDecision): z.infer<typeof DecisionView> {
  const { number, at, durationMs, outcome, code, stage, type, checks, ids } = decision
  return {
    number,
    at: new Date(at).toISOString(),
    durationMs,
    outcome,
    code,
    stage,
    type: type ?? null,
    user: checks?.user ?? null,
    channel: checks?.channel ?? null,
    missingScopes: [...(decision.missingScopes ?? [])],
    ids: ids ? { ...ids } : null,
  }
}

export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
