/** Bolt's InstallationStore, by shape, so that Bolt is not imported. */
import { type Clock, epochSeconds, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import type { SlackApi } from '../existence/slack-api.ts'
import { type TokenService, verifyToken } from '../tokens/service.ts'

export interface BoltInstallation {
  team: { id: string; name?: string } | undefined
  enterprise: { id: string; name?: string } | undefined
  user: { token: string | undefined; scopes: string[] | undefined; id: string }
  bot?: {
    token: string
    refreshToken?: string
    expiresAt?: number
    scopes: string[]
    id: string
    userId: string
  }
  isEnterpriseInstall?: boolean
  tokenType?: 'bot'
  authVersion?: 'v2'
}

export interface BoltQuery {
  teamId: string | undefined
  enterpriseId: string | undefined
  isEnterpriseInstall: boolean
}

export interface TwoKeyInstallationStore {
  /** Throws unless Slack confirms that the bot token belongs to the workspace or organisation. */
  storeInstallation(installation: StoredInstallation): Promise<void>
  /** Throws if there is no installation, or if Slack no longer accepts its token. */
  // oxlint-disable-next-line typescript/no-explicit-any -- Bolt's type depends on the query
  fetchInstallation(query: BoltQuery): Promise<any>
  deleteInstallation(query: BoltQuery): Promise<void>
  /** For `existenceCheck`, which then confirms and removes uninstalled workspaces. */
  tokenOf(team: string): Promise<string | undefined>
  onUninstalled(team: string, token: string): Promise<void>
}

/** The parts of Bolt's installation that are read. */
export interface StoredInstallation {
  team?: { id: string } | undefined
  enterprise?: { id: string } | undefined
  isEnterpriseInstall?: boolean | undefined
  bot?: { token: string; refreshToken?: string | undefined } | undefined
}

const CACHE_MS = 300_000
const MAX_ENTRIES = 10_000
const TIMEOUT_MS = 2_000

const someId = z.string().nullish()
const Identity = z.object({
  team_id: z.string(),
  enterprise_id: someId,
  user_id: z.string(),
  bot_id: someId,
  is_enterprise_install: z.boolean().nullish(),
})

export function createInstallationStore(deps: {
  tokens: TokenService
  api: SlackApi
  clock: Clock
}): TwoKeyInstallationStore {
  const { tokens, api, clock } = deps
  const cache = new LRUCache<string, { installation: BoltInstallation; readAt: number }>({
    max: MAX_ENTRIES,
  })

  async function describe(token: string): Promise<BoltInstallation> {
    const cached = cache.get(token)
    if (cached && isRecent(clock, cached.readAt, CACHE_MS)) return cached.installation
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const reply = await api.call('auth.test', {}, { token, signal })
    if (reply.kind === 'error')
      throw new Error('Slack rejects the stored bot token. Reinstall the app.')
    if (reply.kind !== 'ok') throw new Error('Slack cannot be reached to verify the bot token.')
    const { team_id, enterprise_id, user_id, bot_id, is_enterprise_install } = Identity.parse(
      reply.body,
    )
    const isEnterpriseInstall = is_enterprise_install === true
    const enterprise = enterprise_id ?? (isEnterpriseInstall ? team_id : undefined)
    const installation: BoltInstallation = {
      team: isEnterpriseInstall ? undefined : { id: team_id },
      enterprise: enterprise === undefined ? undefined : { id: enterprise },
      // Who installed it is not stored.
      user: { token: undefined, scopes: undefined, id: '' },
      bot: { token, scopes: [...reply.scopes], id: bot_id ?? '', userId: user_id },
      isEnterpriseInstall,
      tokenType: 'bot',
      authVersion: 'v2',
    }
    cache.set(token, { installation, readAt: clock.now() })
    return installation
  }

  async function storedToken(query: BoltQuery): Promise<string | undefined> {
    const { teamId, enterpriseId, isEnterpriseInstall } = query
    const own =
      isEnterpriseInstall || teamId === undefined ? undefined : await tokens.tokenOf(teamId)
    if (own !== undefined || enterpriseId === undefined) return own
    return tokens.tokenOf(enterpriseId)
  }

  return {
    async storeInstallation({ team, enterprise, isEnterpriseInstall = false, bot }) {
      const owner = isEnterpriseInstall ? enterprise?.id : team?.id
      if (owner === undefined || !bot) {
        throw new TypeError(
          'The installation has no bot token. Add bot scopes to the app at Slack.',
        )
      }
      if (bot.refreshToken !== undefined) {
        throw new TypeError(
          'Tokens that expire are not supported. Use an app without token rotation at Slack.',
        )
      }
      const verifiedAt = epochSeconds(clock)
      await verifyToken(api, bot.token, owner)
      await tokens.install(owner, bot.token, verifiedAt)
    },

    async fetchInstallation(query) {
      const token = await storedToken(query)
      if (token === undefined) throw new Error('The app is not installed in this workspace.')
      const { teamId, enterpriseId } = query
      const found = await describe(token)
      // A token under another workspace's key would act for the wrong one.
      const isOwn = found.isEnterpriseInstall
        ? found.enterprise?.id === enterpriseId
        : found.team?.id === teamId
      if (!isOwn) throw new Error('The stored bot token belongs to another workspace.')
      return found
    },

    async deleteInstallation({ teamId, enterpriseId, isEnterpriseInstall }) {
      const owner = isEnterpriseInstall ? enterpriseId : teamId
      if (owner !== undefined) await tokens.delete(owner)
    },

    tokenOf: (team) => tokens.tokenOf(team),

    onUninstalled: (team, token) => tokens.deleteRevoked(team, token),
  }
}
