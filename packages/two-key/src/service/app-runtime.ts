/** Apps made ready to decide, each with a memory of its own that outlives changes to it. */
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import type { Log } from '@strongroom/kit/log'
import type { StartTimer } from '@strongroom/kit/safe-fetch/deadline'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { createExistenceChecker, type RunningChecker } from '../existence/checker.ts'
import { createKnownStore } from '../existence/known-store.ts'
import type { ExistenceMetrics } from '../existence/metrics.ts'
import type { SlackApiOptions } from '../existence/slack-api.ts'
import { isAppName } from '../keys.ts'
import { isAhead } from '../lasting.ts'
import type { TwoKeySettings } from '../settings.ts'
import { createTwoKeyStore, type TwoKeyStore } from '../store.ts'
import { createTokenVault, type TokenVault } from '../tokens/token-vault.ts'
import { type TwoKey, twoKey } from '../verify.ts'
import type { AppItem } from './app-item.ts'
import type { Apps } from './apps.ts'
import { createDecisions, type Decisions } from './decisions.ts'

export interface ReadyApp {
  item: AppItem
  keys: TwoKey
  store: TwoKeyStore
  vault: TokenVault
  decisions: Decisions
  /** The app is gone from a team: its token is forgotten, with what it vouched for. */
  leaveTeam(team: string): Promise<void>
}

export interface AppRuntime {
  /** The app as it was at most ten seconds ago; undefined if there is none. */
  get(name: string): Promise<ReadyApp | undefined>
  /** The app was changed here: it is read anew. */
  changed(name: string): void
  /** The app was removed here: nothing of it is remembered. */
  removed(name: string): void
  /** Each minute. */
  maintain(): Promise<void>
  close(): Promise<void>
}

export interface RuntimeDeps {
  db: Db
  clock: Clock
  startTimer: StartTimer
  log: Log
  apps: Apps
  box: SecretBox
  metrics: ExistenceMetrics
  config: Pick<
    TwoKeySettings,
    'TWO_KEY_SLACK_API_URL' | 'TWO_KEY_SLACK_SHARE' | 'TWO_KEY_CACHE_MAC'
  >
  fetch?: SlackApiOptions['fetch']
}

/** A change on another machine is seen after so long. */
const KEPT_MS = 10_000
/** Names that are no apps are made up by anybody. */
const MOST_MISSING = 1_000

/** What an app keeps while its settings change. */
interface Memory {
  createdAt: number
  store: TwoKeyStore
  vault: TokenVault
  decisions: Decisions
  checker: RunningChecker
  /** The policy that the checker was made with. */
  checkedWith: string
}

export function createAppRuntime(deps: RuntimeDeps): AppRuntime {
  const { db, clock, apps, box, log, config } = deps
  const memories = new Map<string, Memory>()
  const ready = new Map<string, { app: Promise<ReadyApp | undefined>; until: number }>()

  function checkerFor(item: AppItem, store: TwoKeyStore, vault: TokenVault): RunningChecker {
    const { deletedUser, archivedChannel } = item.policy
    return createExistenceChecker({
      tokenOf: vault.tokenOf,
      onUninstalled: async (team, token) =>
        vault
          .deleteDead(team, token)
          .catch((error: unknown) => log.error('Cannot forget a dead token', { error })),
      cache: store.cache,
      knownStore: createKnownStore(db, item.SK),
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

  function memoryOf(item: AppItem): Memory {
    const name = item.SK
    const checkedWith = JSON.stringify([item.policy.deletedUser, item.policy.archivedChannel])
    const found = memories.get(name)
    // An app that was removed and made again is another one.
    if (found?.createdAt === item.createdAt) {
      if (found.checkedWith === checkedWith) return found
      const checker = checkerFor(item, found.store, found.vault)
      const changed = { ...found, checker, checkedWith }
      memories.set(name, changed)
      return changed
    }
    const store = createTwoKeyStore({ db, clock, ...(!item.isFirst && { app: name }) })
    const vault = createTokenVault({ app: name, tokens: store.tokens, box, clock })
    const memory: Memory = {
      createdAt: item.createdAt,
      store,
      vault,
      decisions: createDecisions(clock),
      checker: checkerFor(item, store, vault),
      checkedWith,
    }
    memories.set(name, memory)
    return memory
  }

  async function makeReady(name: string): Promise<ReadyApp | undefined> {
    const item = await apps.get(name)
    if (!item) {
      memories.delete(name)
      return undefined
    }
    const secrets = await apps.signingSecrets(item)
    const { store, vault, decisions, checker } = memoryOf(item)
    const { channels, onUndecidable, onMissingToken, rejectStatus } = item.policy
    const keys = twoKey({
      signingSecret: secrets.map(({ secret }) => secret),
      checker: decisions.watching(checker),
      clock,
      log: log.child({ app: name }),
      onDecision: decisions.decided,
      ...(item.appId !== undefined && { appId: item.appId }),
      ...(channels && { channelPolicy: channels }),
      ...(onUndecidable && { onUndecidable }),
      ...(onMissingToken && { onMissingToken }),
      ...(rejectStatus && { rejectStatus }),
    })
    const leaveTeam = async (team: string) => {
      await vault.delete(team).finally(() => checker.forgetTeam(team))
    }
    return { item, keys, store, vault, decisions, leaveTeam }
  }

  return {
    async get(name) {
      if (!isAppName(name)) return undefined
      const found = ready.get(name)
      if (found && isAhead(found.until, clock.now(), KEPT_MS)) return found.app
      const made = { app: makeReady(name), until: clock.now() + KEPT_MS }
      ready.delete(name)
      ready.set(name, made)
      const [oldest] = ready.keys()
      if (ready.size > memories.size + MOST_MISSING && oldest !== undefined) ready.delete(oldest)
      return made.app.catch((error: unknown) => {
        if (ready.get(name) === made) ready.delete(name)
        throw error
      })
    },

    changed: (name) => void ready.delete(name),

    removed(name) {
      ready.delete(name)
      memories.delete(name)
    },

    async maintain() {
      for (const { checker } of memories.values()) {
        await checker.maintain().catch((error: unknown) => {
          log.warn('Cannot save known ids: trying again in a minute', { error })
        })
      }
    },

    async close() {
      await this.maintain()
      for (const { checker } of memories.values()) await checker.idle()
    },
  }
}
