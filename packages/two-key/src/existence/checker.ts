/**
 * Key two: whether team, user and channel exist and belong together, by Slack's responses of the last
 * five minutes or by new ones. Decides within the deadline and never throws.
 */
import { createCircuitBreaker } from '@strongroom/kit/circuit-breaker'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import type { Deadline } from '@strongroom/kit/deadline'
import { createInFlight } from '@strongroom/kit/in-flight'
import { type Log, silentLog } from '@strongroom/kit/log'
import { type StartTimer, startTimer as systemTimer } from '@strongroom/platform/timers'
import { createDeadlines } from '../deadlines.ts'
import { isSlackId, type SlackIds } from '../slack-ids.ts'
import { CACHE_SECONDS, type TripleStore } from './triple-store.ts'
import { createCallBudget } from './call-budget.ts'
import { evaluate } from './evaluation.ts'
import { createEntityCache } from './entity-cache.ts'
import type { KnownIdStore } from './known-id-store.ts'
import { createKnownIds } from './known-ids.ts'
import { createRequestLookup, knownNamesOf } from './request-lookup.ts'
import {
  type ExistenceChecker,
  type IdCheckOptions,
  type ExistenceResult,
  type RefusalReason,
  createRefusal,
  type UndecidableReason,
  createUndecidable,
} from './result.ts'
import { createSlackApi, type SlackApiOptions, type SlackMethod } from './slack-api.ts'
import { createEntityLookup } from './entity-lookup.ts'
import type { EntityPolicy } from './slack-responses.ts'
import { createUninstallCheck } from './uninstall.ts'
import { createTripleCache, type RequestTriple, tripleOf } from './triple-cache.ts'

export interface CheckerOptions {
  /** The bot token of a team or organisation; undefined if the app is not installed there. */
  tokenOf(team: string): Promise<string | undefined>
  /** Called when an uninstall is confirmed: the token of this team or organisation is revoked. */
  onUninstalled?: (team: string, token: string) => Promise<void>
  /** Called when Slack rejects the token that `tokenOf` returned: it may have been replaced elsewhere. */
  onTokenRejected?: (team: string) => void
  /** Verified triples that all machines share; without it each machine has its own. */
  cache?: TripleStore | undefined
  /** Stores the ids verified in the last day, so that they survive a restart. */
  knownStore?: KnownIdStore | undefined
  /** Whether cache entries carry a MAC derived from the bot token. */
  cacheMac?: boolean
  deletedUser?: EntityPolicy['deletedUser']
  archivedChannel?: EntityPolicy['archivedChannel']
  /** The base URL of Slack's API, by default https://slack.com/api/. */
  slackApiUrl?: string | undefined
  fetch?: SlackApiOptions['fetch']
  /** The share of Slack's rate limits that this process may use, by default 0.8. */
  slackShare?: number | undefined
  metrics?: ExistenceMetrics
  clock?: Clock
  startTimer?: StartTimer
  log?: Log
}

export interface ExistenceMetrics {
  cacheHit(): void
  cacheMiss(): void
  failed(reason: RefusalReason | UndecidableReason): void
  slackResponded(method: SlackMethod, milliseconds: number): void
}

export interface RunningChecker extends ExistenceChecker {
  /** Saves new known ids and loads those of other machines; call it once a minute. */
  maintain(): Promise<void>
  /** Deletes a team's entries from memory, because the app was uninstalled there. */
  removeTeam(team: string): void
  /** Resolves when no background work is running. */
  idle(): Promise<void>
}

const BACKGROUND_TIMEOUT_MS = 10_000
/** A refresh looks up entities again that are older than this part of their lifetime. */
const REFRESH_PART = 0.5

/** Consecutive failures, across teams and methods, after which Slack counts as down. */
const BREAKER_FAILURES = 10
const BREAKER_OPEN_MS = 5_000

const noMetrics: ExistenceMetrics = {
  cacheHit() {},
  cacheMiss() {},
  failed() {},
  slackResponded() {},
}

export function createExistenceChecker(options: CheckerOptions): RunningChecker {
  const { clock = systemClock, startTimer = systemTimer, log = silentLog } = options
  const { metrics = noMetrics, tokenOf } = options
  const startDeadline = createDeadlines({ clock, startTimer })
  const known = createKnownIds({
    clock,
    store: options.knownStore,
    onFailed: (error) => log.warn('known ids could not be read', { error }),
  })
  const cache = createTripleCache({
    clock,
    startDeadline,
    store: options.cache,
    withMac: options.cacheMac ?? false,
    onFailed: (action, error) =>
      log.warn(`cache ${action} failed`, {
        event: `existence_check_cache_${action === 'read' ? 'read' : 'save'}_failed`,
        error,
      }),
  })
  const lookup = createEntityLookup({
    api: createSlackApi({
      clock,
      baseUrl: options.slackApiUrl,
      ...(options.fetch && { fetch: options.fetch }),
      onResponse: metrics.slackResponded,
    }),
    clock,
    startTimer,
    startDeadline,
    budget: createCallBudget({ clock, share: options.slackShare }),
    breaker: createCircuitBreaker({
      clock,
      failures: BREAKER_FAILURES,
      openMs: BREAKER_OPEN_MS,
      probeTimeoutMs: BREAKER_OPEN_MS,
    }),
    cache: createEntityCache(clock),
    policy: {
      deletedUser: options.deletedUser ?? 'deny',
      archivedChannel: options.archivedChannel ?? 'allow',
    },
    onCredentialError: (slackError, missingScopes) =>
      log.error(
        missingScopes.length > 0
          ? `bot token lacks a scope: reinstall the app with ${missingScopes.join(', ')}`
          : 'bot token rejected: reinstall the app',
        {
          event: 'existence_check_api_error',
          slackError,
          ...(missingScopes.length > 0 && { missingScopes }),
        },
      ),
  })
  const { lookupIds, isKnownAbsent, probeToken } = createRequestLookup({
    lookup,
    known,
    startDeadline,
  })
  const checkUninstall = createUninstallCheck({
    tokenOf,
    probeToken,
    async onUninstalled(team, token) {
      cache.deleteTeam(team)
      try {
        await options.onUninstalled?.(team, token)
      } finally {
        // Until the token was removed, requests could still pass with it and be cached.
        cache.deleteTeam(team)
      }
    },
  })

  const background = createInFlight()
  const refreshing = new Set<string>()
  function runInBackground(work: Promise<void>): void {
    void background.track(
      work.catch((error: unknown) => log.error('background verification failed', { error })),
    )
  }

  async function resolveToken({ team, enterprise }: SlackIds, given: string | undefined) {
    if (given !== undefined) return given
    const own = await tokenOf(team)
    if (own !== undefined || enterprise === undefined) return own
    return tokenOf(enterprise)
  }

  async function check(ids: SlackIds, checkOptions: IdCheckOptions): Promise<ExistenceResult> {
    if (!areSlackIds(ids)) return createRefusal('bad_id')
    const triple = tripleOf(ids)
    const cached = triple && cache.get(triple.key)
    if (triple && cached) {
      if (clock.now() >= cached.refreshAt) runInBackground(refresh(triple, ids, checkOptions.token))
      if (triple.coversRequest) return { ok: true, source: 'cache' }
    }
    const deadline = startDeadline({ until: checkOptions.deadline })
    return checkUncached(ids, triple, checkOptions, deadline).finally(() => deadline.stop())
  }

  async function checkUncached(
    ids: SlackIds,
    triple: RequestTriple | undefined,
    { token: given, channelPolicy }: IdCheckOptions,
    deadline: Deadline,
  ): Promise<ExistenceResult> {
    const generation = cache.generation()
    const resolved = await deadline.settle(resolveToken(ids, given))
    if (resolved === 'late') return createUndecidable('store')
    const token = resolved.value
    if (token === undefined) return createRefusal('no_token')

    // Read again: the entry may have been deleted by an uninstall, or have expired, in the meantime.
    let entry = triple && cache.get(triple.key)
    if (triple && !entry && !isKnownAbsent(ids, token, channelPolicy)) {
      entry = await cache.load(triple, { token, deadline, generation })
      if (entry) for (const name of knownNamesOf(ids)) known.add(ids.team, name)
    }
    if (entry && triple?.coversRequest) return { ok: true, source: 'cache' }

    const isTripleVerified = entry !== undefined
    const results = await lookupIds(ids, token, { deadline, channelPolicy, isTripleVerified })
    const { result, verifiedAt } = evaluate(ids, results, channelPolicy)
    if (given === undefined && !result.ok && result.reason === 'credential') {
      options.onTokenRejected?.(ids.team)
      if (ids.enterprise !== undefined) options.onTokenRejected?.(ids.enterprise)
    }
    const isTripleSeen = result.ok && result.channelUnseen !== true && channelPolicy !== 'skip'
    if (triple && !entry && isTripleSeen && verifiedAt !== undefined) {
      runInBackground(cache.save(triple, { token, verifiedAt, generation }))
    }
    return result
  }

  /** Verifies an entry again before it expires, so that no request has to wait for it. */
  async function refresh(
    triple: RequestTriple,
    ids: SlackIds,
    given: string | undefined,
  ): Promise<void> {
    const { key } = triple
    if (refreshing.has(key)) return
    refreshing.add(key)
    const generation = cache.generation()
    const deadline = startDeadline({ ms: BACKGROUND_TIMEOUT_MS })
    try {
      const resolved = await deadline.settle(resolveToken(ids, given))
      if (resolved === 'late') return
      const token = resolved.value
      if (token === undefined) return cache.delete(key)
      const channelPolicy = 'strict'
      const verifiedSince = clock.now() - REFRESH_PART * CACHE_SECONDS * 1000
      const results = await lookupIds(ids, token, { deadline, channelPolicy, verifiedSince })
      const { result, verifiedAt } = evaluate(ids, results, channelPolicy)
      if (verifiedAt !== undefined) await cache.save(triple, { token, verifiedAt, generation })
      else if (!result.ok && result.kind === 'refused') cache.delete(key)
    } finally {
      refreshing.delete(key)
      deadline.stop()
    }
  }

  return {
    async check(ids, checkOptions) {
      const result = await check(ids, checkOptions).catch((error: unknown) => {
        log.error('existence check failed', { event: 'existence_check_handler_error', error })
        return createUndecidable('store')
      })
      if (result.ok && result.source === 'cache') metrics.cacheHit()
      else metrics.cacheMiss()
      if (!result.ok) metrics.failed(result.reason)
      return result
    },

    async checkUninstalled(installation, { deadline: until, token }) {
      const deadline = startDeadline({ until })
      try {
        return await checkUninstall(installation, { deadline, token })
      } catch (error) {
        log.error('uninstall check failed', { error })
        return createUndecidable('store')
      } finally {
        deadline.stop()
      }
    },

    maintain: () => known.sync(),

    removeTeam: (team) => cache.deleteTeam(team),

    idle: () => background.settled(),
  }
}

function areSlackIds({ team, enterprise, user, bot, channel, otherTeams = [] }: SlackIds): boolean {
  if (!isSlackId(team)) return false
  if (user !== undefined && !isSlackId(user)) return false
  if (channel !== undefined && !isSlackId(channel)) return false
  if (bot !== undefined && !isSlackId(bot)) return false
  if (enterprise !== undefined && !isSlackId(enterprise)) return false
  return otherTeams.every(isSlackId)
}
