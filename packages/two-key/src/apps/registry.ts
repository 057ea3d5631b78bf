/** Loaded apps, ready to verify requests. Caches survive a change of an app's settings. */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import type { Db } from '@strongroom/kit/db'
import type { Log } from '@strongroom/kit/log'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { LRUCache } from 'lru-cache'
import {
  createExistenceChecker,
  type ExistenceMetrics,
  type RunningChecker,
} from '../existence/checker.ts'
import { createKnownIdStore } from '../existence/known-id-store.ts'
import type { SlackApiOptions } from '../existence/slack-api.ts'
import type { TwoKeySettings } from '../settings.ts'
import { isAppName } from '../slack-ids.ts'
import { createStores, type TwoKeyStores } from '../stores.ts'
import { createTokenService, type TokenService } from '../tokens/service.ts'
import { type TwoKey, twoKey } from '../verify.ts'
import type { AppItem } from './item.ts'
import { createRecentDecisions, type RecentDecisions } from './recent-decisions.ts'
import type { AppService } from './service.ts'

export interface LoadedApp {
  item: AppItem
  twoKey: TwoKey
  stores: TwoKeyStores
  tokens: TokenService
  decisions: RecentDecisions
  /** Deletes a team's token and its cached results. */
  removeTeam(team: string, on?: Db): Promise<void>
}

export interface AppRegistry {
  /** At most ten seconds old. */
  get(name: string): Promise<LoadedApp | undefined>
  /** The app was changed by this process: it is read again. */
  invalidate(name: string): void
  /** The app was removed by this process: its caches are dropped. */
  remove(name: string): void
  /** The decisions of this process, by app. */
  decisions(): ReadonlyMap<string, RecentDecisions>
  /** Call it once a minute. */
  maintain(): Promise<void>
  /** Resolves when no check runs in the background. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface RegistryDeps {
  db: Db
  clock: Clock
  startTimer: StartTimer
  log: Log
  apps: Pick<AppService, 'get' | 'signingSecrets'>
  box: SecretBox
  /** Where the token of an uninstalled app is deleted. */
  uninstallDb(app: string, team: string): Db
  metrics: ExistenceMetrics
  config: Pick<
    TwoKeySettings,
    'TWO_KEY_SLACK_API_URL' | 'TWO_KEY_SLACK_SHARE' | 'TWO_KEY_CACHE_MAC'
  >
  fetch?: SlackApiOptions['fetch']
}

/** A change by another machine is seen after at most this long; less than `SECRET_CACHE_SECONDS`. */
const CACHE_MS = 10_000
/** Requests may name apps that do not exist, so the number of names is limited. */
const MAX_NAMES = 2_000

/** The state of an app that survives a change of its settings. */
interface AppState {
  createdAt: number
  stores: TwoKeyStores
  tokens: TokenService
  decisions: RecentDecisions
  checker: RunningChecker
  /** The part of the policy that the checker was created with. */
  checkerPolicy: string
}

export function createAppRegistry(deps: RegistryDeps): AppRegistry {
  const { db, clock, apps, box, log, config } = deps
  const states = new Map<string, AppState>()
  const cache = new LRUCache<string, { app: Promise<LoadedApp | undefined>; readAt: number }>({
    max: MAX_NAMES,
  })

  function createChecker(
    item: AppItem,
    { stores, tokens }: Pick<AppState, 'stores' | 'tokens'>,
  ): RunningChecker {
    const { deletedUser, archivedChannel } = item.policy
    return createExistenceChecker({
      tokenOf: tokens.tokenOf,
      onTokenRejected: tokens.invalidate,
      onUninstalled: async (team, token) =>
        tokens
          .deleteRevoked(team, token, deps.uninstallDb(item.SK, team))
          .catch((error: unknown) => log.error('revoked token could not be deleted', { error })),
      cache: stores.cache,
      knownStore: createKnownIdStore(db, item.SK),
      cacheMac: config.TWO_KEY_CACHE_MAC,
      slackApiUrl: config.TWO_KEY_SLACK_API_URL,
      slackShare: config.TWO_KEY_SLACK_SHARE / 100,
      ...(deletedUser && { deletedUser }),
      ...(archivedChannel && { archivedChannel }),
      ...(deps.fetch && { fetch: deps.fetch }),
      metrics: deps.metrics,
      clock,
      startTimer: deps.startTimer,
      log: log.child({ app: item.SK }),
    })
  }

  function stateOf(item: AppItem): AppState {
    const { SK: name, createdAt, isFirst, policy } = item
    const checkerPolicy = JSON.stringify([policy.deletedUser, policy.archivedChannel])
    let state = states.get(name)
    // An app that was removed and added again is another one.
    if (state?.createdAt !== createdAt) {
      const stores = createStores({ db, clock, ...(!isFirst && { app: name }) })
      const tokens = createTokenService({ app: name, tokens: stores.tokens, box, clock })
      const checker = createChecker(item, { stores, tokens })
      const decisions = createRecentDecisions(clock)
      state = { createdAt, stores, tokens, decisions, checker, checkerPolicy }
    } else if (state.checkerPolicy !== checkerPolicy) {
      state = { ...state, checker: createChecker(item, state), checkerPolicy }
    }
    states.set(name, state)
    return state
  }

  async function load(name: string): Promise<LoadedApp | undefined> {
    const item = await apps.get(name)
    if (!item) {
      states.delete(name)
      return undefined
    }
    const secrets = await apps.signingSecrets(item)
    const { stores, tokens, decisions, checker } = stateOf(item)
    const { channels, onUndecidable, onMissingToken, rejectStatus } = item.policy
    return {
      item,
      stores,
      tokens,
      decisions,
      twoKey: twoKey({
        signingSecret: secrets.map(({ secret }) => secret),
        checker,
        clock,
        log: log.child({ app: name }),
        onDecision: decisions.record,
        ...(item.appId !== undefined && { appId: item.appId }),
        ...(channels && { channelPolicy: channels }),
        ...(onUndecidable && { onUndecidable }),
        ...(onMissingToken && { onMissingToken }),
        ...(rejectStatus && { rejectStatus }),
      }),
      async removeTeam(team, on) {
        await tokens.delete(team, on).finally(() => checker.removeTeam(team))
      },
    }
  }

  return {
    async get(name) {
      if (!isAppName(name)) return undefined
      const cached = cache.get(name)
      if (cached && isRecent(clock, cached.readAt, CACHE_MS)) return cached.app
      const entry = { app: load(name), readAt: clock.now() }
      cache.set(name, entry)
      return entry.app.catch((error: unknown) => {
        if (cache.peek(name) === entry) cache.delete(name)
        throw error
      })
    },

    invalidate: (name) => void cache.delete(name),

    remove(name) {
      cache.delete(name)
      states.delete(name)
    },

    decisions: () => new Map([...states].map(([name, { decisions }]) => [name, decisions])),

    async maintain() {
      for (const { checker } of states.values()) {
        await checker.maintain().catch((error: unknown) => {
          log.warn('known ids could not be saved, retrying in a minute', { error })
        })
      }
    },

    async idle() {
      for (const { checker } of states.values()) await checker.idle()
    },

    async close() {
      await this.maintain()
      await this.idle()
    },
  }
}
