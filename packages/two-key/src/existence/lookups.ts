/**
 * Finds out about single entities: from what is known, or by asking Slack. Whoever asks for the
 * same entity at the same time shares one call, and everybody waits only as long as he can.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { StartTimer } from '@strongroom/kit/safe-fetch/deadline'
import type { Circuit } from './circuit.ts'
import { type EntityKind, entityMethods, type EntityPolicy, type Facts } from './entities.ts'
import type { Knowledge, Known } from './knowledge.ts'
import type { MissBudgets } from './miss-budgets.ts'
import type { SlackApi, SlackReply } from './slack-api.ts'
import { classOf, isDeadToken } from './slack-errors.ts'
import type { UndecidableReason } from './verdict.ts'

export interface Question {
  team: string
  kind: EntityKind
  /** Of a binding: what tells the token from others, and is not the token. */
  id: string
  token: string
  /** The workspace that is meant, where the token is of a whole organisation. */
  workspace?: string | undefined
}

export type Finding =
  | ({ state: 'exists'; fromSlack: boolean } & Known<Facts>)
  | { state: 'absent' }
  | Undecided

export interface Undecided {
  state: 'undecidable'
  reason: UndecidableReason
  retryAfterSeconds?: number
  /** The token that was asked with will never work again. */
  isTokenDead?: true
}

export interface Lookups {
  /** What is known already; undefined if Slack has to be asked. */
  known(question: Question): Finding | undefined
  /** Asks Slack, and waits until then at most. Never throws. */
  ask(question: Question, options: { until: number; isKnown: boolean }): Promise<Finding>
}

const TRIES = 3
const FIRST_PAUSE_MS = 100
/** A call goes on for so long although nobody waits any more: its answer serves the next request. */
const LONGEST_CALL_MS = 10_000

interface Flight {
  finding: Promise<Finding>
  /** The latest moment that somebody waits for. */
  until: number
}

export function createLookups(deps: {
  api: SlackApi
  clock: Clock
  startTimer: StartTimer
  budgets: MissBudgets
  circuit: Circuit
  knowledge: Knowledge<Facts>
  policy: EntityPolicy
  /** The operator has to act: the token is dead or lacks a scope. */
  onCredentialError: (error: string) => void
}): Lookups {
  const { api, clock, startTimer, budgets, circuit, knowledge, policy } = deps
  const flights = new Map<string, Flight>()

  const pause = async (milliseconds: number): Promise<void> =>
    new Promise((resolve) => void startTimer(milliseconds, resolve))

  async function callOnce({ kind, id, token, workspace }: Question): Promise<SlackReply> {
    const { method, argument } = entityMethods[kind]
    const args = {
      ...(argument !== undefined && { [argument]: id }),
      ...(workspace !== undefined && kind !== 'team' && { team_id: workspace }),
    }
    const controller = new AbortController()
    const stop = startTimer(LONGEST_CALL_MS, () => controller.abort())
    try {
      return await api.call(method, args, { token, signal: controller.signal })
    } finally {
      stop()
    }
  }

  /** Waits for what forbids a call, if that is over before everybody has left. */
  async function mayCall(question: Question, flight: Flight, isKnown: boolean) {
    const { team, kind } = question
    const { method } = entityMethods[kind]
    for (;;) {
      const closed = circuit.closedFor(team, method)
      const wait = closed?.milliseconds ?? budgets.take(team, method, { isKnown })
      if (wait === 0) {
        circuit.calling()
        return undefined
      }
      const reason = closed?.reason ?? 'budget'
      const isWorthIt = clock.now() + wait < flight.until && (isKnown || reason !== 'budget')
      if (!isWorthIt) return undecided(reason, wait)
      await pause(wait)
    }
  }

  async function fly(question: Question, flight: Flight, isKnown: boolean): Promise<Finding> {
    const { team, kind } = question
    const { method } = entityMethods[kind]
    let last: Undecided = { state: 'undecidable', reason: 'slack_error' }
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const refused = await mayCall(question, flight, isKnown)
      // The first failure says more than that nobody could wait for a second try.
      if (refused) return attempt === 1 || refused.reason === 'rate_limited' ? refused : last
      const reply = await callOnce(question)
      if (reply.kind === 'rate_limited') {
        circuit.answered()
        circuit.rateLimited(team, method, reply.retryAfterSeconds)
        last = { state: 'undecidable', reason: 'rate_limited' }
        continue
      }
      const finding = settle(question, reply)
      if (finding) return finding
      if (reply.kind === 'unreachable') circuit.failed()
      else circuit.answered()
      const wait = FIRST_PAUSE_MS * 2 ** (attempt - 1)
      if (clock.now() + wait >= flight.until) return last
      if (attempt < TRIES) await pause(wait)
    }
    return last
  }

  /** What a reply decides; undefined if it is worth asking again. */
  function settle(question: Question, reply: SlackReply): Finding | undefined {
    const key = keyOf(question)
    if (reply.kind === 'ok') {
      circuit.answered()
      const facts = factsIn(question, reply.body)
      if (facts === 'senseless') return { state: 'undecidable', reason: 'slack_error' }
      if (facts) return { state: 'exists', fromSlack: true, ...knowledge.exists(key, facts) }
      knowledge.absent(key)
      return { state: 'absent' }
    }
    if (reply.kind !== 'error') return undefined
    const meaning = classOf(reply.error)
    if (meaning === 'transient') return undefined
    circuit.answered()
    if (meaning === 'credential') {
      knowledge.forget(key)
      deps.onCredentialError(reply.error)
      const dead = isDeadToken(reply.error) ? ({ isTokenDead: true } as const) : {}
      return { state: 'undecidable', reason: 'credential', ...dead }
    }
    knowledge.absent(key)
    return { state: 'absent' }
  }

  function factsIn({ kind }: Question, body: unknown): Facts | 'senseless' | undefined {
    try {
      return entityMethods[kind].factsOf(body, policy)
    } catch {
      return 'senseless'
    }
  }

  async function waitFor(finding: Promise<Finding>, until: number): Promise<Finding> {
    const left = until - clock.now()
    if (left <= 0) return { state: 'undecidable', reason: 'timeout' }
    let stop: (() => void) | undefined
    const late = new Promise<Finding>((resolve) => {
      stop = startTimer(left, () => resolve({ state: 'undecidable', reason: 'timeout' }))
    })
    try {
      return await Promise.race([finding, late])
    } finally {
      stop?.()
    }
  }

  return {
    known(question) {
      const found = knowledge.get(keyOf(question))
      if (found === undefined) return undefined
      return found === 'absent'
        ? { state: 'absent' }
        : { state: 'exists', fromSlack: false, ...found }
    },

    async ask(question, { until, isKnown }) {
      const key = keyOf(question)
      let flight = flights.get(key)
      if (flight) {
        flight.until = Math.max(flight.until, until)
      } else {
        flight = { until, finding: Promise.resolve<Finding>({ state: 'absent' }) }
        flight.finding = fly(question, flight, isKnown).finally(() => flights.delete(key))
        flights.set(key, flight)
      }
      return waitFor(flight.finding, until)
    },
  }
}

function keyOf({ team, kind, id, workspace }: Omit<Question, 'token'>): string {
  return workspace === undefined ? `${team} ${kind} ${id}` : `${team} ${workspace} ${kind} ${id}`
}

function undecided(reason: UndecidableReason, milliseconds: number): Undecided {
  return {
    state: 'undecidable',
    reason,
    retryAfterSeconds: Math.max(1, Math.ceil(milliseconds / 1000)),
  }
}
