/**
 * Installs an app in a workspace: sends the browser to Slack, exchanges the code that it brings back, and
 * stores the bot token once Slack has confirmed whose it is.
 */
import { ApiError } from '@strongroom/kit/errors'
import type { AuditActor } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import { randomToken } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import * as z from 'zod'
import type { AppItem } from '../apps/item.ts'
import type { AppRegistry, LoadedApp } from '../apps/registry.ts'
import type { AppService, SlackClient } from '../apps/service.ts'
import { BotToken } from '../apps/view.ts'
import type { SlackApi, SlackReply } from '../existence/slack-api.ts'
import { isSlackId } from '../slack-ids.ts'
import { verifyToken } from '../tokens/service.ts'
import { authorizeUrl, installationScopes } from './addresses.ts'
import type { InstallationStates } from './state.ts'

export type InstallationFailure =
  /** The app does not exist, or workspaces cannot install it here. */
  | 'not_available'
  /** Not started in this browser, too long ago, finished already, or for another app. */
  | 'invalid_state'
  | 'cancelled'
  | 'invalid_code'
  | 'not_distributed'
  | 'misconfigured'
  | 'foreign_app'
  | 'no_bot_token'
  | 'expiring_token'
  | 'token_rejected'
  | 'slack_unavailable'

export type InstallationOutcome =
  | { kind: 'installed'; workspace: string; isOrgWide: boolean; missingScopes: readonly string[] }
  | { kind: 'failed'; reason: InstallationFailure }

export interface InstallationRequest {
  app: string
  redirectUrl: string
}

export interface InstallationService {
  /** Undefined if workspaces cannot install the app here. */
  start(request: InstallationRequest): Promise<{ url: string; cookie: string } | undefined>
  finish(
    request: InstallationRequest & {
      cookie: string | undefined
      query: URLSearchParams
      address: string | undefined
    },
  ): Promise<InstallationOutcome>
}

/** Who stores a token, in the audit log. No operator can have this name. */
const INSTALLER = 'slack:installation'
const EXCHANGE_TIMEOUT_MS = 10_000
const MAX_CODE_LENGTH = 512

const place = z
  .object({ id: z.string().refine(isSlackId), name: z.string().max(256).catch('') })
  .nullish()
const Access = z.object({
  access_token: z.string().optional(),
  token_type: z.string().optional(),
  refresh_token: z.string().optional(),
  expires_in: z.number().optional(),
  app_id: z.string().optional(),
  team: place,
  enterprise: place,
  is_enterprise_install: z.boolean().nullish(),
})

const failed = (reason: InstallationFailure): InstallationOutcome => ({ kind: 'failed', reason })

export function createInstallationService(deps: {
  apps: Pick<AppService, 'slackClient'>
  registry: Pick<AppRegistry, 'get'>
  states: InstallationStates
  slackApi: SlackApi
  slackApiUrl: string
  tokenDb(by: AuditActor, app: string, team: string): Db
  clock: Clock
  log: Log
}): InstallationService {
  const { apps, registry, states, slackApi, clock, log } = deps

  async function find(
    appName: string,
  ): Promise<{ app: LoadedApp; client: SlackClient } | undefined> {
    const app = await registry.get(appName)
    const client = app && (await apps.slackClient(app.item))
    return client && { app, client }
  }

  /** A state works once, on all machines. */
  async function consume({ stores }: LoadedApp, state: string): Promise<boolean> {
    const id = `install.${state}`
    if ((await stores.events.claim(id, randomToken(16))) !== 'claimed') return false
    await stores.events.confirm(id)
    return true
  }

  async function install(
    { item, tokens }: LoadedApp,
    reply: Extract<SlackReply, { kind: 'ok' }>,
    address: string | undefined,
  ): Promise<InstallationOutcome> {
    const granted = readGranted(reply, item)
    if ('kind' in granted) return granted
    const { token, team, workspace, isOrgWide } = granted
    const verifiedAt = epochSeconds(clock)
    const verified = await verifyToken(slackApi, token, team).catch((error: unknown) => {
      if (error instanceof ApiError) return error
      throw error
    })
    if (verified instanceof ApiError) {
      return failed(verified.status === 503 ? 'slack_unavailable' : 'token_rejected')
    }
    const by = { actor: INSTALLER, address }
    await tokens.install(team, token, verifiedAt, deps.tokenDb(by, item.SK, team))
    log.info('Slack app installed', { app: item.SK, isOrgWide })
    return { kind: 'installed', workspace, isOrgWide, missingScopes: verified }
  }

  return {
    async start({ app: appName, redirectUrl }) {
      const found = await find(appName)
      if (!found) return undefined
      const { state, cookie } = await states.create(appName)
      const scopes = installationScopes(found.app.item.scopes)
      const { clientId } = found.client
      const url = authorizeUrl(deps.slackApiUrl, { clientId, scopes, state, redirectUrl })
      return { url, cookie }
    },

    async finish({ app: appName, redirectUrl, cookie = '', query, address }) {
      const found = await find(appName)
      if (!found) return failed('not_available')
      const state = singleValue(query, 'state')
      if (!(await states.verify(appName, state, cookie))) return failed('invalid_state')
      if (!(await consume(found.app, state))) return failed('invalid_state')
      if (query.has('error')) return failed('cancelled')
      const code = singleValue(query, 'code')
      if (code === '' || code.length > MAX_CODE_LENGTH) return failed('invalid_code')
      const reply = await slackApi.exchangeCode(
        { code, redirect_uri: redirectUrl },
        { ...found.client, signal: AbortSignal.timeout(EXCHANGE_TIMEOUT_MS) },
      )
      if (reply.kind === 'ok') return install(found.app, reply, address)
      if (reply.kind !== 'error') return failed('slack_unavailable')
      const reason = EXCHANGE_ERRORS[reply.error] ?? 'misconfigured'
      if (reason === 'misconfigured')
        log.error(
          'Slack rejected the client of the app: check its client id, secret and redirect URL',
          {
            app: appName,
            slackError: /^[a-z_]{1,64}$/.test(reply.error) ? reply.error : 'unknown',
          },
        )
      return failed(reason)
    },
  }
}

const EXCHANGE_ERRORS: Readonly<Record<string, InstallationFailure | undefined>> = {
  invalid_code: 'invalid_code',
  code_already_used: 'invalid_code',
  code_expired: 'invalid_code',
  invalid_team_for_non_distributed_app: 'not_distributed',
  internal_error: 'slack_unavailable',
  fatal_error: 'slack_unavailable',
  service_unavailable: 'slack_unavailable',
  request_timeout: 'slack_unavailable',
}

/** Empty if it is missing or sent twice. */
function singleValue(query: URLSearchParams, name: string): string {
  const [value = '', ...more] = query.getAll(name)
  return more.length === 0 ? value : ''
}

interface Granted {
  token: string
  /** The organisation, if the app was installed for all of it. */
  team: string
  workspace: string
  isOrgWide: boolean
}

function readGranted(
  { body }: Extract<SlackReply, { kind: 'ok' }>,
  { appId }: AppItem,
): Granted | InstallationOutcome {
  const parsed = Access.safeParse(body)
  if (!parsed.success) return failed('slack_unavailable')
  const { data } = parsed
  if (appId !== undefined && data.app_id !== appId) return failed('foreign_app')
  const isOrgWide = data.is_enterprise_install === true
  const where = isOrgWide ? data.enterprise : data.team
  const token = BotToken.safeParse(data.access_token)
  if (data.token_type !== 'bot' || !token.success || !where) return failed('no_bot_token')
  // It would end after 12 hours, and nothing here refreshes it.
  if (data.refresh_token !== undefined || data.expires_in !== undefined) {
    return failed('expiring_token')
  }
  return { token: token.data, team: where.id, workspace: where.name, isOrgWide }
}
