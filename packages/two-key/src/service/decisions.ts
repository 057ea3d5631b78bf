/** The latest decisions of this process about an app, for operators who wonder why. In memory only. */
import type { Clock } from '@strongroom/kit/clock'
import type { Decision } from '../decision.ts'
import type { ExistenceChecker, ExistenceVerdict, SlackIds } from '../existence/verdict.ts'

export interface RecordedDecision {
  /** Milliseconds since the epoch. */
  at: number
  outcome: 'accepted' | 'refused' | 'undecidable'
  /** Why it was not accepted, or what vouched for it. */
  reason: string
  ids?: SlackIds
}

export interface Decisions {
  /** The checker, with everything that it says written down. */
  watching<Checker extends ExistenceChecker>(checker: Checker): Checker
  /** Of what key two has not seen. */
  decided(decision: Decision): void
  /** The newest first. */
  latest(limit: number): RecordedDecision[]
}

const MOST = 200

export function createDecisions(clock: Clock): Decisions {
  const ring: RecordedDecision[] = []
  let next = 0

  function record(entry: Omit<RecordedDecision, 'at'>): void {
    ring[next] = { at: clock.now(), ...entry }
    next = (next + 1) % MOST
  }

  function recordVerdict(ids: SlackIds, verdict: ExistenceVerdict): ExistenceVerdict {
    if (verdict.ok) record({ outcome: 'accepted', reason: verdict.source, ids })
    // What is no id may be anything, also a secret.
    else if (verdict.reason === 'bad_id') record({ outcome: 'refused', reason: 'bad_id' })
    else record({ outcome: verdict.kind, reason: verdict.reason, ids })
    return verdict
  }

  return {
    watching: (checker) => ({
      ...checker,
      check: async (ids, options) => recordVerdict(ids, await checker.check(ids, options)),
      checkUninstalled: async (installation, options) => {
        const { team } = installation
        return recordVerdict({ team }, await checker.checkUninstalled(installation, options))
      },
    }),

    decided(decision) {
      if (!decision.ok && decision.stage !== 'existence')
        record({ outcome: 'refused', reason: decision.code })
      if (decision.ok && (decision.source === 'signature' || decision.source === 'skipped'))
        record({ outcome: 'accepted', reason: decision.source })
    },

    latest: (limit) => [...ring.slice(next), ...ring.slice(0, next)].toReversed().slice(0, limit),
  }
}
