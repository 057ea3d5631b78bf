/** The last decisions of this process about an app, so that operators can see why. In memory only. */
import type { Clock } from '@strongroom/platform/clock'
import type { Decision } from '../decision.ts'
import type { ExistenceChecker, ExistenceResult } from '../existence/result.ts'
import type { SlackIds } from '../slack-ids.ts'

export interface RecordedDecision {
  /** Milliseconds since the epoch. */
  at: number
  outcome: 'accepted' | 'refused' | 'undecidable'
  /** Why it was not accepted, or what verified it. */
  reason: string
  ids?: SlackIds
}

export interface RecentDecisions {
  /** The same checker; its results are recorded. */
  wrap<Checker extends ExistenceChecker>(checker: Checker): Checker
  /** Records a decision unless the checker was involved, because `wrap` records that. */
  record(decision: Decision): void
  /** The newest first. */
  list(limit: number): RecordedDecision[]
}

const MAX_ENTRIES = 200

export function createRecentDecisions(clock: Clock): RecentDecisions {
  const ring: RecordedDecision[] = []
  let next = 0

  function append(entry: Omit<RecordedDecision, 'at'>): void {
    ring[next] = { at: clock.now(), ...entry }
    next = (next + 1) % MAX_ENTRIES
  }

  function recordResult(ids: SlackIds, result: ExistenceResult): ExistenceResult {
    if (result.ok) append({ outcome: 'accepted', reason: result.source, ids })
    // A malformed id may be anything, even a secret, so it is not recorded.
    else if (result.reason === 'bad_id') append({ outcome: 'refused', reason: 'bad_id' })
    else append({ outcome: result.kind, reason: result.reason, ids })
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
        append({ outcome: 'refused', reason: decision.code })
      if (decision.ok && (decision.source === 'signature' || decision.source === 'skipped'))
        append({ outcome: 'accepted', reason: decision.source })
    },

    list: (limit) => [...ring.slice(next), ...ring.slice(0, next)].toReversed().slice(0, limit),
  }
}
