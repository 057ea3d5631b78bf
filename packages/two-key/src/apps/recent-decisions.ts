/**
 * The last decisions of this process about an app, so that operators can see why, and how many there
 * were in each minute of the last hours. In memory only.
 */
import type { Clock } from '@strongroom/platform/clock'
import {
  type AcceptedChecks,
  type Decision,
  isUndecidable,
  type Rejected,
  type RejectionCode,
} from '../decision.ts'
import type { SlackPayload } from '../payload/parse.ts'
import type { SlackIds } from '../slack-ids.ts'
import type { DecisionDetails } from '../verify.ts'

export const decisionOutcomes = ['accepted', 'refused', 'undecidable'] as const
export type DecisionOutcome = (typeof decisionOutcomes)[number]

export interface RecordedDecision {
  /** Counts the decisions of this process. */
  number: number
  /** Milliseconds since the epoch. */
  at: number
  durationMs: number
  outcome: DecisionOutcome
  /** The documented code of a rejection, or what verified the request. */
  code: RejectionCode | 'slack' | 'cache' | 'signature' | 'skipped'
  /** What refused or verified it. */
  stage: 'signature' | 'payload' | 'existence'
  /** Slack's name of the payload: `message`, `slash_command`, `block_actions`. */
  type?: string
  ids?: SlackIds
  /** What was verified of an accepted request. */
  checks?: AcceptedChecks
  missingScopes?: readonly string[]
}

/** The decisions of one minute. */
export interface DecisionCounts extends Record<DecisionOutcome, number> {
  /** When the minute began, in milliseconds since the epoch. */
  from: number
}

export interface DecisionFilter {
  limit: number
  outcome?: DecisionOutcome | undefined
  /** Only with a higher number. */
  after?: number | undefined
}

export interface RecentDecisions {
  record(decision: Decision, details: DecisionDetails): void
  /** The newest first. */
  list(filter: DecisionFilter): RecordedDecision[]
  /** Of the last minutes, the oldest first, also those without a decision. */
  counts(minutes: number): DecisionCounts[]
}

const MAX_ENTRIES = 200
const MINUTE_MS = 60_000
export const MAX_MINUTES = 24 * 60

export function createRecentDecisions(clock: Clock): RecentDecisions {
  const ring: RecordedDecision[] = []
  const minutes = new Map<number, Record<DecisionOutcome, number>>()
  let recorded = 0

  function append(entry: Omit<RecordedDecision, 'at' | 'number'>): void {
    const decision = { number: ++recorded, at: clock.now(), ...entry }
    ring[recorded % MAX_ENTRIES] = decision
    const minute = Math.floor(decision.at / MINUTE_MS)
    let counts = minutes.get(minute)
    if (!counts) {
      counts = { accepted: 0, refused: 0, undecidable: 0 }
      minutes.set(minute, counts)
      for (const each of minutes.keys()) if (each <= minute - MAX_MINUTES) minutes.delete(each)
    }
    counts[entry.outcome]++
  }

  return {
    record(decision, { payload, durationMs }) {
      const { type, ids } = payload ? describePayload(payload) : {}
      append({
        durationMs,
        ...(decision.ok ? describeAccepted(decision) : describeRejected(decision)),
        ...(type !== undefined && { type }),
        ...(ids && { ids }),
      })
    },

    list: ({ limit, outcome, after = 0 }) =>
      ring
        .filter((each) => each.number > after && (outcome ?? each.outcome) === each.outcome)
        .toSorted((a, b) => b.number - a.number)
        .slice(0, limit),

    counts(count) {
      const last = Math.floor(clock.now() / MINUTE_MS)
      return Array.from({ length: count }, (_, index) => {
        const minute = last - count + 1 + index
        const none = { accepted: 0, refused: 0, undecidable: 0 }
        return { from: minute * MINUTE_MS, ...(minutes.get(minute) ?? none) }
      })
    },
  }
}

function describeAccepted({ source, user, channel }: Extract<Decision, { ok: true }>) {
  const stage = source === 'signature' || source === 'skipped' ? 'signature' : 'existence'
  return { outcome: 'accepted', code: source, stage, checks: { user, channel } } as const
}

function describeRejected({ code, stage, missingScopes }: Rejected) {
  const outcome = isUndecidable(code) ? 'undecidable' : 'refused'
  return { outcome, code, stage, ...(missingScopes && { missingScopes }) } as const
}

/** Types are the sender's own text, so anything that Slack would not send is left out. */
const TYPE = /^[a-z][a-z0-9_]{0,63}$/

function describePayload(payload: SlackPayload): { type?: string; ids?: SlackIds } {
  if (!('type' in payload)) return { type: payload.kind }
  const ids = payload.kind === 'uninstall' ? { team: payload.team } : payload.ids
  return { ...(TYPE.test(payload.type) && { type: payload.type }), ids }
}
