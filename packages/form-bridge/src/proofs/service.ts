/**
 * Proves domains, within a budget of requests to each host.
 *
 * The first proofs and validations of a host in a period may send all their requests. Anyone
 * can use these up by naming the host, so after that every address and every agency still gets one
 * method per call. A caller can therefore not make the server send more requests than the caller
 * does, and the owner of the host is not locked out.
 */
import type { Caller } from '../limits/caller.ts'
import { rateLimited, type RateLimits } from '../limits/service.ts'
import { ProofMethod, type Registration } from '../registrations/item.ts'
import type { SecurityEventLog } from '../security/event-log.ts'
import type { SiteAddress } from '../sites/address.ts'
import type { Attempt } from './attempt.ts'
import type { ProofCheck } from './methods.ts'
import type { ProofSubject } from './protocol.ts'

export type Proof =
  | { proved: true; method: ProofMethod }
  /** `finished`: every wanted method was tried. */
  | { proved: false; attempts: readonly Attempt[]; finished: boolean }

export interface ProofOptions {
  methods?: readonly ProofMethod[] | undefined
  /** Failed attempts of earlier calls, which are not repeated while other methods are left. */
  alreadyTried: readonly Attempt[]
  maxMethods: number
}

export type ProofService = ReturnType<typeof createProofService>

export function createProofService(deps: {
  checks: Record<ProofMethod, ProofCheck>
  limits: RateLimits
  events: SecurityEventLog
}) {
  const { checks, limits, events } = deps

  /** By host and not by domain, because anyone can invent paths of a host. */
  async function takeHostRequests(
    reason: 'proof' | 'check',
    { agency_id }: Registration,
    { host }: SiteAddress,
    caller: Caller,
  ) {
    const requested_by = agency_id ?? caller.client_ip
    const share = await limits.take({ scope: 'validation_share', domain: host, requested_by })
    if (!share.admitted) {
      await events.record({ event_type: 'rate_limit', reason, caller })
      throw rateLimited('validation_share', share)
    }
    const total = await limits.take({ scope: 'validation_domain', domain: host })
    if (!total.admitted) {
      const recorded = reason === 'proof' ? 'proof_by_one_way' : reason
      await events.record({ event_type: 'rate_limit', reason: recorded, caller })
    }
    return total
  }

  return {
    /** Tries the methods in their order and stops at the first that proves the domain. */
    async prove(
      address: SiteAddress,
      subject: ProofSubject,
      { methods = ProofMethod.options, alreadyTried, maxMethods }: ProofOptions,
    ): Promise<Proof> {
      const wanted = ProofMethod.options.filter((each) => methods.includes(each))
      const untried = wanted.filter((each) => !alreadyTried.some(({ method }) => method === each))
      // If all methods have failed, a further call starts over.
      const [left, earlier] = untried.length > 0 ? [untried, alreadyTried] : [wanted, []]
      const next = left.slice(0, maxMethods)
      const attempts = [...earlier]
      for (const method of next) {
        const result = await checks[method](address, subject)
        if (result.result === 'proved') return { proved: true, method }
        attempts.push(result)
      }
      return { proved: false, attempts, finished: next.length === left.length }
    },

    /** Returns how many methods this call may try. */
    async reserveMethods(
      registration: Registration,
      address: SiteAddress,
      caller: Caller,
    ): Promise<number> {
      const { admitted } = await takeHostRequests('proof', registration, address, caller)
      return admitted ? Infinity : 1
    },

    /** A validation requests several pages and is not needed to connect: all or nothing. */
    async requireValidationBudget(
      registration: Registration,
      address: SiteAddress,
      caller: Caller,
    ): Promise<void> {
      const decision = await takeHostRequests('check', registration, address, caller)
      if (!decision.admitted) throw rateLimited('validation_domain', decision)
    },
  }
}
