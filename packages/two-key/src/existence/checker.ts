/**
 * Key two: whether team, user and channel exist and fit together, by what Slack said in the last
 * five minutes or says now. Decides within the deadline it is given; never throws, never hangs.
 */
import { type Clock, systemClock } from '@strongroom/kit/clock'
import { type Log, silentLog } from '@strongroom/kit/log'
import type { StartTimer } from '@strongroom/kit/safe-fetch/deadline'
import type { ExistenceCache } from '../existence-cache.ts'
import { isSlackId } from '../keys.ts'
import { createCircuit } from './circuit.ts'
import { createDeadlines } from './deadlines.ts'
import type { EntityPolicy, Facts } from './entities.ts'
import { createInquiry } from './inquiry.ts'
import { createKnowledge } from './knowledge.ts'
import { createKnownIds } from './known-ids.ts'
import type { KnownStore } from './known-store.ts'
import { createLookups } from './lookups.ts'
import { type ExistenceMetrics, noMetrics } from './metrics.ts'
import { createMissBudgets } from './miss-budgets.ts'
import { createSlackApi, type SlackApiOptions } from './slack-api.ts'
import { systemTimer } from './system-timer.ts'
import { tripleOf } from './triple.ts'
import { createUninstallation } from './uninstallation.ts'
import type { ExistenceChecker, ExistenceOptions, ExistenceVerdict, SlackIds } from './verdict.ts'
import { createVerifiedTriples } from './verified-triples.ts'

export interface CheckerOptions {
  /** The bot token of a team or organisation; undefined if the app is not installed there. */
  tokenOf(team: string): Promise<string | undefined>
  /** This token of a team or organisation has proved to be dead when it was said to be gone. */
  onUninstalled?: (team: string, token: string) => Promise<void>
  /** Verified triples that all machines share; without it each remembers its own. */
  cache?: ExistenceCache | undefined
  /** Ids verified in the last day, kept beyond a restart. */
  knownStore?: KnownStore | undefined
  /** Whether entries of the cache carry a MAC from the bot token. */
  cacheMac?: boolean
  deletedUser?: EntityPolicy['deletedUser']
  archivedChannel?: EntityPolicy['archivedChannel']
  /** Slack's API; its own address unless told. */
  slackApiUrl?: string | undefined
  fetch?: SlackApiOptions['fetch']
  /** Which part of what Slack allows in calls a minute this process may use; 0.8 unless told. */
  slackShare?: number | undefined
  metrics?: ExistenceMetrics
  clock?: Clock
  startTimer?: StartTimer
  log?: Log
}

export interface RunningChecker extends ExistenceChecker {
  /** Saves what is new about known ids and learns what others saved; to be called each minute. */
  maintain(): Promise<void>
  /** The app is gone from a team: what it vouched for is not believed any more. */
  forgetTeam(team: string): void
  /** Resolves when nothing goes on in the background. */
  idle(): Promise<void>
}

/** How long a verification in the background may take. */
const BACKGROUND_MS = 10_000

export function createExistenceChecker(options: CheckerOptions): RunningChecker {
  const { clock = systemClock, startTimer = systemTimer, log = silentLog } = options
  const { metrics = noMetrics, tokenOf } = options
  const policy: EntityPolicy = {
    deletedUser: options.deletedUser ?? 'deny',
    archivedChannel: options.archivedChannel ?? 'allow',
  }
  const api = createSlackApi({
    clock,
    baseUrl: options.slackApiUrl,
    ...(options.fetch && { fetch: options.fetch }),
    onAnswered: metrics.slackAnswered,
  })
  const { within } = createDeadlines({ clock, startTimer })
  const known = createKnownIds({
    clock,
    store: options.knownStore,
    onFailed: (error) => log.warn('Cannot read known ids', { error }),
  })
  const triples = createVerifiedTriples({
    clock,
    startTimer,
    cache: options.cache,
    withMac: options.cacheMac ?? false,
    onFailed: (action, error) =>
      log.warn('Cannot use the cache', {
        event: action === 'read' ? 'existence_check_cache_read_failed' : SAVE_FAILED,
        error,
      }),
  })
  const lookups = createLookups({
    api,
    clock,
    startTimer,
    budgets: createMissBudgets({ clock, share: options.slackShare }),
    circuit: createCircuit(clock),
    knowledge: createKnowledge<Facts>(clock),
    policy,
    onCredentialError: (slackError) =>
      log.error('A bot token does not work: install the app again, or grant what it lacks', {
        event: 'existence_check_api_error',
        slackError,
      }),
  })
  const inquiry = createInquiry({ clock, lookups, known, triples, within })
  const uninstallation = createUninstallation({
    tokenOf,
    probe: inquiry.probe,
    within,
    async gone(team, token) {
      triples.dropTeam(team)
      try {
        await options.onUninstalled?.(team, token)
      } finally {
        // Until then others could pass by the token, and be remembered.
        triples.dropTeam(team)
      }
    },
  })

  const background = new Set<Promise<void>>()
  const refreshing = new Set<string>()
  function inBackground(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => log.error('Cannot verify in the background', { error }))
      .finally(() => background.delete(tracked))
    background.add(tracked)
  }

  async function tokenFor({ team, enterprise }: SlackIds, given: string | undefined) {
    if (given !== undefined) return given
    const own = await tokenOf(team)
    if (own !== undefined || enterprise === undefined) return own
    return tokenOf(enterprise)
  }

  /** Verifies what is still believed once more, so that nobody has to wait when it ends. */
  async function refresh(key: string, ids: SlackIds, given: string | undefined): Promise<void> {
    if (refreshing.has(key)) return
    refreshing.add(key)
    const era = triples.era()
    try {
      const deadline = clock.now() + BACKGROUND_MS
      const found = await within(deadline, tokenFor(ids, given))
      if (found === 'late') return
      if (found.value === undefined) return triples.drop(key)
      await inquiry.renew(ids, found.value, { deadline, channelPolicy: 'strict', era })
    } finally {
      refreshing.delete(key)
    }
  }

  async function answer(ids: SlackIds, asked: ExistenceOptions): Promise<ExistenceVerdict> {
    if (!areSlackIds(ids)) return { ok: false, kind: 'refused', reason: 'bad_id' }
    const triple = tripleOf(ids)
    const remembered = triple && triples.get(triple.key)
    if (triple && remembered) {
      if (clock.now() >= remembered.refreshAt) inBackground(refresh(triple.key, ids, asked.token))
      if (triple.isWhole) return { ok: true, source: 'cache' }
    }
    const era = triples.era()
    const found = await within(asked.deadline, tokenFor(ids, asked.token))
    if (found === 'late') return { ok: false, kind: 'undecidable', reason: 'store' }
    if (found.value === undefined) return { ok: false, kind: 'refused', reason: 'no_token' }
    const { verdict, saved } = await inquiry.decide(ids, found.value, { ...asked, era })
    if (saved) inBackground(saved)
    return verdict
  }

  return {
    async check(ids, asked) {
      const verdict = await answer(ids, asked).catch((error: unknown): ExistenceVerdict => {
        log.error('Cannot decide about a request of Slack', {
          event: 'existence_check_handler_error',
          error,
        })
        return { ok: false, kind: 'undecidable', reason: 'store' }
      })
      if (verdict.ok && verdict.source === 'cache') metrics.cacheHit()
      else metrics.cacheMiss()
      if (!verdict.ok) metrics.failed(verdict.reason)
      return verdict
    },

    checkUninstalled: async (installation, asked) =>
      uninstallation(installation, asked).catch((error: unknown): ExistenceVerdict => {
        log.error('Cannot decide about an uninstallation', { error })
        return { ok: false, kind: 'undecidable', reason: 'store' }
      }),

    maintain: () => known.exchange(),

    forgetTeam: (team) => triples.dropTeam(team),

    async idle() {
      while (background.size > 0) await Promise.all(background)
    },
  }
}

const SAVE_FAILED = 'existence_check_cache_save_failed'

function areSlackIds({ team, enterprise, user, bot, channel, otherTeams = [] }: SlackIds): boolean {
  if (!isSlackId(team)) return false
  if (user !== undefined && !isSlackId(user)) return false
  if (channel !== undefined && !isSlackId(channel)) return false
  if (bot !== undefined && !isSlackId(bot)) return false
  if (enterprise !== undefined && !isSlackId(enterprise)) return false
  return otherTeams.every(isSlackId)
}
