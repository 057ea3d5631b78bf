/**
 * How much of a host's server may be asked, and for whom.
 *
 * The first proofs and checks of a host in a stretch of time may try everything, whoever wants
 * them. A stranger can use these up by naming the host, so they are not all there is: after them
 * every address, and every agency, still gets one way at each call. Whoever has a host asked then
 * sends as many requests as the host gets, and its owner is not locked out.
 */
import type { Registration } from '../items/registration.ts'
import type { Caller } from '../limits/client-ids.ts'
import { type RateGuard, rateLimited } from '../limits/guard.ts'
import type { Journal } from '../security/journal.ts'
import type { SiteAddress } from '../sites/domain.ts'

export type ProofBudget = ReturnType<typeof createProofBudget>

export function createProofBudget({ guard, journal }: { guard: RateGuard; journal: Journal }) {
  /** By host, not by domain: of the paths of one host there are as many as anybody can think of. */
  async function take(
    wanted: 'proof' | 'check',
    { agency_id }: Registration,
    { host }: SiteAddress,
    caller: Caller,
  ) {
    const asked_by = agency_id ?? caller.client_ip
    const share = await guard.take({ scope: 'validation_share', domain: host, asked_by })
    if (!share.admitted) {
      await journal.note({ event_type: 'rate_limit', reason: wanted, caller })
      throw rateLimited('validation_share', share)
    }
    const whole = await guard.take({ scope: 'validation_domain', domain: host })
    if (!whole.admitted) {
      const reason = wanted === 'proof' ? 'proof_by_one_way' : wanted
      await journal.note({ event_type: 'rate_limit', reason, caller })
    }
    return whole
  }

  return {
    /** How many ways this proof may try. */
    async ways(registration: Registration, address: SiteAddress, caller: Caller): Promise<number> {
      const { admitted } = await take('proof', registration, address, caller)
      return admitted ? Infinity : 1
    },

    /** A check asks for several pages at once and nobody needs it to connect: all or nothing. */
    async check(registration: Registration, address: SiteAddress, caller: Caller): Promise<void> {
      const decision = await take('check', registration, address, caller)
      if (!decision.admitted) throw rateLimited('validation_domain', decision)
    },
  }
}
