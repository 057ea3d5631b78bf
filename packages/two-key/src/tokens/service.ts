/**
 * Decrypts the bot tokens of an app while they are used. Each is encrypted under a key of its team.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'
import { SECRET_CACHE_SECONDS } from '@strongroom/kit/key-cache'
import type { SecretBox, SecretPlace } from '@strongroom/kit/secret-box'
import { LRUCache } from 'lru-cache'
import { twoKeyError } from '../errors.ts'
import type { SlackApi } from '../existence/slack-api.ts'
import { classifyError, entityMethods } from '../existence/slack-responses.ts'
import type { TokenItem, TokenStore } from './store.ts'

/** A token that another machine replaced or deleted is used for at most this long. */
const CACHE_MS = SECRET_CACHE_SECONDS * 1000
/** Another machine sees a new installation after at most this long. */
const MISSING_CACHE_MS = 5_000
const MAX_ENTRIES = 10_000

export interface TokenService {
  tokenOf(team: string): Promise<string | undefined>
  /** The next request reads the token again, because another machine may have replaced it. */
  invalidate(team: string): void
  /** Writes `on` the given store, as does `delete`. */
  put(team: string, token: string, on?: Db): Promise<void>
  delete(team: string, on?: Db): Promise<void>
  /** Stores the token of an installation that Slack confirmed at a time, unless a later one is stored. */
  install(team: string, token: string, verifiedAt: number, on?: Db): Promise<void>
  /** Deletes a revoked token, unless it has been replaced. */
  deleteRevoked(team: string, token: string, on?: Db): Promise<void>
}

interface CachedToken {
  token: Promise<string | undefined>
  readAt: number
  cacheMs: number
}

export function createTokenService(deps: {
  app: string
  tokens: TokenStore
  box: SecretBox
  clock: Clock
}): TokenService {
  const { app, tokens, box, clock } = deps
  const cache = new LRUCache<string, CachedToken>({ max: MAX_ENTRIES })

  const place = (team: string): SecretPlace => ({
    service: 'two-key',
    tenant: team,
    entity: app,
    attribute: 'bot_token',
  })

  async function decrypt({ bot_token }: TokenItem, team: string): Promise<string> {
    return Buffer.from(await box.open(bot_token, place(team))).toString()
  }

  async function read(team: string): Promise<string | undefined> {
    const item = await tokens.get(team)
    return item && decrypt(item, team)
  }

  return {
    async tokenOf(team) {
      const cached = cache.get(team)
      if (cached && isRecent(clock, cached.readAt, cached.cacheMs)) return cached.token
      const entry: CachedToken = { token: read(team), readAt: clock.now(), cacheMs: CACHE_MS }
      cache.set(team, entry)
      try {
        const token = await entry.token
        if (token === undefined) entry.cacheMs = MISSING_CACHE_MS
        return token
      } catch (error) {
        if (cache.peek(team) === entry) cache.delete(team)
        throw error
      }
    },

    invalidate: (team) => void cache.delete(team),

    async put(team, token, on) {
      const encrypted = await box.seal(new TextEncoder().encode(token), place(team))
      // Also if the write fails, here and below: it may have succeeded and only its response was lost.
      await tokens.put(team, encrypted, on).finally(() => cache.delete(team))
    },

    async delete(team, on) {
      await tokens.delete(team, on).finally(() => cache.delete(team))
    },

    async install(team, token, verifiedAt, on) {
      const encryptedToken = await box.seal(new TextEncoder().encode(token), place(team))
      const installation = { encryptedToken, verifiedAt }
      await tokens.putInstallation(team, installation, on).finally(() => cache.delete(team))
    },

    async deleteRevoked(team, token, on) {
      try {
        const item = await tokens.get(team)
        if (item && (await decrypt(item, team)) === token) {
          await tokens.deleteIfUnchanged(team, item, on)
        }
      } finally {
        cache.delete(team)
      }
    },
  }
}

/** The scopes that key two needs; without one of them, some requests cannot be verified. */
export const REQUIRED_SCOPES: readonly string[] = [
  'team:read',
  'users:read',
  'channels:read',
  'groups:read',
  'im:read',
  'mpim:read',
]
const VERIFY_TIMEOUT_MS = 10_000

/**
 * Verifies with Slack that a token belongs to a workspace, or to an organisation as an org-wide
 * token, and returns the missing scopes.
 */
export async function verifyToken(api: SlackApi, token: string, team: string): Promise<string[]> {
  const signal = AbortSignal.timeout(VERIFY_TIMEOUT_MS)
  const reply = await api.call('auth.test', {}, { token, signal })
  if (reply.kind === 'error' && classifyError(reply.error) === 'credential') {
    throw twoKeyError('token_rejected')
  }
  if (reply.kind !== 'ok') throw twoKeyError('slack_unavailable')
  const policy = { deletedUser: 'deny', archivedChannel: 'allow' } as const
  const facts = entityMethods.token.parse(reply.body, policy)
  const isOwn = facts?.team === team || (facts?.isOrgWide === true && facts.enterprise === team)
  if (!isOwn) throw twoKeyError('token_of_other_team')
  return REQUIRED_SCOPES.filter((scope) => !reply.scopes.includes(scope))
}
