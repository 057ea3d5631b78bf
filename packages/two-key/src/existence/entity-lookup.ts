/**
 * Looks up single entities, in the cache or at Slack. Concurrent lookups of one entity share a call,
 * and each caller waits until its own deadline.
 */
import type { CircuitBreaker } from '@strongroom/kit/circuit-breaker'
import type { Clock } from '@strongroom/platform/clock'
import type { Deadline } from '@strongroom/kit/deadline'
import type { StartTimer } from '@strongroom/platform/timers'
import type { StartDeadline } from '../deadlines.ts'
import type { CallBudget } from './call-budget.ts'
import type { CachedEntity, EntityCache } from './entity-cache.ts'
import type { UndecidableReason } from './result.ts'
import type { SlackApi, SlackReply } from './slack-api.ts'
import {
  classifyError,
  type EntityKind,
  entityMethods,
  type EntityPolicy,
  type EntityFacts,
  isRevokedToken,
} from './slack-responses.ts'

export interface EntityRef {
  team: string
  kind: EntityKind
  /** For a token its digest, never the token itself. */
  id: string
  token: string
  /** The workspace that is meant, if the token is org-wide. */
  workspace?: string | undefined
}

export type EntityResult =
  | ({ state: 'exists'; fromSlack: boolean } & CachedEntity)
  | { state: 'absent' }
  | Undecidable

export interface Undecidable {
  state: 'undecidable'
  reason: UndecidableReason
  retryAfterSeconds?: number
  /** The token will never work again. */
  isTokenRevoked?: true
  /** The scopes that Slack says the token needs. */
  missingScopes?: readonly string[]
}

export interface EntityLookup {
  /** Undefined if Slack must be called. */
  getCached(ref: EntityRef): EntityResult | undefined
  /** Calls Slack. Never throws. */
  lookUp(ref: EntityRef, options: { deadline: Deadline; isKnown: boolean }): Promise<EntityResult>
}

const MAX_ATTEMPTS = 3
const FIRST_RETRY_MS = 100
/**
 * A call without a response after this long probably has a broken connection: another one is made, and
 * the first response counts. Slack usually responds within half of it.
 */
const HEDGE_MS = 700
/**
 * A call continues after its callers have timed out, because its response serves the next request. Not
 * for long, because all requests for the entity wait for it.
 */
const CALL_TIMEOUT_MS = 3_000

type EndCall = ReturnType<CircuitBreaker['begin']>

interface InFlightCall {
  result: Promise<EntityResult>
  /** The latest deadline of its callers, in milliseconds since the epoch. */
  until: number
}

export function createEntityLookup(deps: {
  api: SlackApi
  clock: Clock
  startTimer: StartTimer
  startDeadline: StartDeadline
  budget: CallBudget
  breaker: CircuitBreaker
  cache: EntityCache
  policy: EntityPolicy
  /** An operator must act: the token is revoked or lacks scopes. */
  onCredentialError: (error: string, missingScopes: readonly string[]) => void
}): EntityLookup {
  const { api, clock, startTimer, startDeadline, budget, breaker, cache, policy } = deps
  const inFlight = new Map<string, InFlightCall>()

  const sleep = async (ms: number): Promise<void> =>
    new Promise((resolve) => void startTimer(ms, resolve))

  async function callOnce(
    { kind, id, token, workspace }: EntityRef,
    { end, signal, isSuperseded }: { end: EndCall; signal: AbortSignal; isSuperseded(): boolean },
  ): Promise<SlackReply> {
    const { method, argument } = entityMethods[kind]
    const args = {
      ...(argument !== undefined && { [argument]: id }),
      ...(workspace !== undefined && kind !== 'team' && { team_id: workspace }),
    }
    const reply = await api.call(method, args, { token, signal })
    const isFailed = reply.kind === 'unreachable'
    end(isFailed ? (isSuperseded() ? 'unknown' : 'failed') : 'ok')
    return reply
  }

  /** Calls Slack, and once more in parallel if there is no response: the first usable one counts. */
  async function callHedged(ref: EntityRef, end: EndCall): Promise<SlackReply> {
    const deadline = startDeadline({ ms: CALL_TIMEOUT_MS })
    const superseded = new AbortController()
    const signal = AbortSignal.any([deadline.signal, superseded.signal])
    const isSuperseded = () => superseded.signal.aborted
    return new Promise((resolve) => {
      let pending = 1
      const settle = (reply: SlackReply) => {
        pending -= 1
        if (reply.kind === 'unreachable' && pending > 0) return
        stopTimer()
        deadline.stop()
        resolve(reply)
        superseded.abort()
      }
      const stopTimer = startTimer(HEDGE_MS, () => {
        // Never from the calls that are reserved for known ids: a slow Slack would halve them.
        if (mustWait(ref, false)) return
        pending += 1
        void callOnce(ref, { end: breaker.begin(), signal, isSuperseded }).then(settle)
      })
      void callOnce(ref, { end, signal, isSuperseded }).then(settle)
    })
  }

  function mustWait({ team, kind }: EntityRef, isKnown: boolean) {
    const { method } = entityMethods[kind]
    const retryAfterMs = budget.retryAfterMs(team, method)
    if (retryAfterMs > 0) return { reason: 'rate_limited', ms: retryAfterMs } as const
    const openUntil = breaker.openUntil()
    if (openUntil !== undefined) return { reason: 'circuit', ms: openUntil - clock.now() } as const
    const ms = budget.take(team, method, { isKnown })
    return ms > 0 ? ({ reason: 'budget', ms } as const) : undefined
  }

  /** Begins a call as soon as one is allowed, unless that is after the last caller's deadline. */
  async function beginCall(ref: EntityRef, call: InFlightCall, isKnown: boolean) {
    for (;;) {
      const wait = mustWait(ref, isKnown)
      if (!wait) return { end: breaker.begin() }
      const { reason, ms } = wait
      const canWait = clock.now() + ms < call.until && (isKnown || reason !== 'budget')
      if (!canWait) return { refused: retryLater(reason, ms) }
      await sleep(ms)
    }
  }

  async function callWithRetries(
    ref: EntityRef,
    call: InFlightCall,
    isKnown: boolean,
  ): Promise<EntityResult> {
    const { team, kind } = ref
    let last: Undecidable = { state: 'undecidable', reason: 'slack_error' }
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const begun = await beginCall(ref, call, isKnown)
      if (begun.refused) {
        // The earlier failure is more useful than the lack of time for another attempt.
        const { refused } = begun
        return attempt === 1 || refused.reason === 'rate_limited' ? refused : last
      }
      const reply = await callHedged(ref, begun.end)
      if (reply.kind === 'rate_limited') {
        budget.setRetryAfter(team, entityMethods[kind].method, reply.retryAfterSeconds)
        last = { state: 'undecidable', reason: 'rate_limited' }
        continue
      }
      const result = toResult(ref, reply)
      if (result) return result
      const waitMs = FIRST_RETRY_MS * 2 ** (attempt - 1)
      if (clock.now() + waitMs >= call.until) return last
      if (attempt < MAX_ATTEMPTS) await sleep(waitMs)
    }
    return last
  }

  /** Undefined if the call should be retried. */
  function toResult(ref: EntityRef, reply: SlackReply): EntityResult | undefined {
    const key = keyOf(ref)
    if (reply.kind === 'ok') {
      const facts = parseFacts(ref, reply.body)
      if (facts === 'malformed') return { state: 'undecidable', reason: 'slack_error' }
      if (facts) return { state: 'exists', fromSlack: true, ...cache.setExists(key, facts) }
      cache.setAbsent(key)
      return { state: 'absent' }
    }
    if (reply.kind !== 'error') return undefined
    switch (classifyError(reply.error)) {
      case 'transient':
        return undefined
      case 'absent':
        cache.setAbsent(key)
        return { state: 'absent' }
      case 'credential':
        cache.delete(key)
        deps.onCredentialError(reply.error, reply.needed)
        return toCredentialResult(reply)
    }
  }

  function parseFacts({ kind }: EntityRef, body: unknown): EntityFacts | 'malformed' | undefined {
    try {
      return entityMethods[kind].parse(body, policy)
    } catch {
      return 'malformed'
    }
  }

  return {
    getCached(ref) {
      const cached = cache.get(keyOf(ref))
      if (cached === undefined) return undefined
      if (cached === 'absent') return { state: 'absent' }
      return { state: 'exists', fromSlack: false, ...cached }
    },

    async lookUp(ref, { deadline, isKnown }) {
      const key = keyOf(ref)
      const until = clock.now() + deadline.remainingMs()
      let call = inFlight.get(key)
      if (call) {
        call.until = Math.max(call.until, until)
      } else {
        call = { until, result: Promise.resolve<EntityResult>({ state: 'absent' }) }
        call.result = callWithRetries(ref, call, isKnown).finally(() => inFlight.delete(key))
        inFlight.set(key, call)
      }
      const settled = await deadline.settle(call.result)
      return settled === 'late' ? { state: 'undecidable', reason: 'timeout' } : settled.value
    },
  }
}

function toCredentialResult({
  error,
  needed,
}: Extract<SlackReply, { kind: 'error' }>): Undecidable {
  if (error === 'missing_scope')
    return { state: 'undecidable', reason: 'scope', missingScopes: needed }
  return {
    state: 'undecidable',
    reason: 'credential',
    ...(isRevokedToken(error) && { isTokenRevoked: true }),
  }
}

function keyOf({ team, kind, id, workspace }: EntityRef): string {
  return workspace === undefined ? `${team} ${kind} ${id}` : `${team} ${workspace} ${kind} ${id}`
}

function retryLater(reason: UndecidableReason, waitMs: number): Undecidable {
  return {
    state: 'undecidable',
    reason,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  }
}
