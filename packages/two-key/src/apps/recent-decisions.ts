/**
 * The last decisions of this process about an app, so that operators can see why, and how many there
 * were in each minute of the last hours. In memory only.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { Decision } from '../decision.ts'
import type { ExistenceChecker, ExistenceResult } from '../existence/result.ts'
import type { SlackIds } from '../slack-ids.ts'

export const decisionOutcomes = ['accepted', 'refused', 'undecidable'] as const
export type DecisionOutcome = (typeof decisionOutcomes)[number]

export interface RecordedDecision {
  /** Counts the decisions of this process. */
  number: number
  /** Milliseconds since the epoch. */
  at: number
  outcome: DecisionOutcome
  /** Why it was not accepted, or what verified it. */
  reason: string
  /** What refused or verified it. */
  stage: 'signature' | 'payload' | 'existence'
  ids?: SlackIds
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
  /** The same checker; its results are recorded. */
  wrap<Checker extends ExistenceChecker>(checker: Checker): Checker
  /** Records a decision unless the checker was involved, because `wrap` records that. */
  record(decision: Decision): void
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

  function recordResult(ids: SlackIds, result: ExistenceResult): ExistenceResult {
    const stage = 'existence'
    if (result.ok) append({ outcome: 'accepted', reason: result.source, stage, ids })
    // A malformed id may be anything, even a secret, so it is not recorded.
    else if (result.reason === 'bad_id') append({ outcome: 'refused', reason: 'bad_id', stage })
    else append({ outcome: result.kind, reason: result.reason, stage, ids })
    return result
  }

  return {
    wrap: (checker) => ({
      ...checker,
      check: async (ids, options) => recordResult(ids, await checker.check(ids, options)),
      checkUninstalled: async (installation, options) => {
        const { team } = installation
        return recordResult({ team }, await checker.checkUninstalled(installation, options))
      },
    }),

    record(decision) {
      if (!decision.ok && decision.stage !== 'existence')
        append({ outcome: 'refused', reason: decision.code, stage: decision.stage })
      if (decision.ok && (decision.source === 'signature' || decision.source === 'skipped'))
        append({ outcome: 'accepted', reason: decision.source, stage: 'signature' })
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
