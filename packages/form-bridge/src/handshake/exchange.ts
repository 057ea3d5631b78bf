/** Exchange: a registration whose domain is proved becomes credentials, once. */
import type { Clock } from '@strongroom/kit/clock'
import { formBridgeError } from '../errors.ts'
import type { ProofMethod, Registration } from '../items/registration.ts'
import { hashOf } from '../keys/key-text.ts'
import type { Caller } from '../limits/client-ids.ts'
import { type RateGuard, rateLimited } from '../limits/guard.ts'
import type { AbuseWatch } from '../security/abuse.ts'
import type { Journal } from '../security/journal.ts'
import type { SiteAddress } from '../sites/domain.ts'
import type { createRegistrations } from '../store/registrations.ts'
import type { Connect, Credentials } from './connect.ts'
import type { ProofBudget } from './proof-budget.ts'
import type { Prove } from './prove.ts'
import type { Register } from './register.ts'
import type { Verifying } from './verifying.ts'

/** How long a proof that nobody waited for is good. */
const PROVED_MS = 600_000

export interface Exchanging {
  registration_id: string
  temp_key: string
  site_url: string
  methods?: readonly ProofMethod[] | undefined
  wait: boolean
  previous_api_key?: string | undefined
}

export type Exchange = ReturnType<typeof createExchange>

export function createExchange(deps: {
  clock: Clock
  registrations: ReturnType<typeof createRegistrations>
  addressOf: Register['addressOf']
  prove: Prove
  budget: Pick<ProofBudget, 'ways'>
  verifying: Verifying
  connect: Connect
  guard: RateGuard
  abuse: AbuseWatch
  journal: Journal
}) {
  const { clock, registrations, addressOf, prove, budget, verifying, connect } = deps
  const { guard, abuse, journal } = deps

  /** The pending registration of whoever has its key. Wrong keys are what an address is counted by. */
  async function pending(
    given: { registration_id: string; temp_key: string },
    { domain }: SiteAddress,
    caller: Caller,
  ): Promise<Registration> {
    const found = await registrations.get({ domain, registration_id: given.registration_id })
    if (found?.status === 'pending' && found.temp_key === hashOf(given.temp_key)) return found
    // Only here: who has the right key does not pay for the guesses of its neighbours.
    await abuse.refuseBlocked(caller.client_ip, 'registration_spam', 'invalid_domains', 'api_abuse')
    await journal.note({ event_type: 'auth_failure', reason: 'registration_invalid', caller })
    await abuse.failed('api_abuse', caller.client_ip)
    const decision = await guard.take({ scope: 'key_exchange', client_ip: caller.client_ip })
    if (!decision.admitted) throw rateLimited('key_exchange', decision)
    throw formBridgeError('registration_invalid')
  }

  function provedBefore({ proved_by, proved_at }: Registration): ProofMethod | undefined {
    if (proved_at === undefined || clock.now() - Date.parse(proved_at) > PROVED_MS) return undefined
    return proved_by
  }

  return {
    pending,

    async exchange(given: Exchanging, caller: Caller): Promise<Credentials | 'verifying'> {
      const address = addressOf(given.site_url)
      const registration = await pending(given, address, caller)
      const proved_by =
        provedBefore(registration) ?? (await proveNow(registration, address, given, caller))
      if (proved_by === 'verifying') return proved_by
      return connect(registration, { address, proved_by, caller, previous: given.previous_api_key })
    },
  }

  async function proveNow(
    registration: Registration,
    address: SiteAddress,
    given: Exchanging,
    caller: Caller,
  ): Promise<ProofMethod | 'verifying'> {
    const { registration_id, domain } = registration
    const { methods } = given
    const look = (most: number) => {
      const before = verifying.before(registration_id)
      return prove(address, { ...given, domain }, { methods, before, most })
    }
    if (given.wait) {
      const most = await budget.ways(registration, address, caller)
      const proof = verifying.note(registration_id, await look(most))
      if (proof.proved) return proof.method
      throw await failed(proof.attempts, domain, caller)
    }
    const attempts = verifying.failure(registration_id)
    if (attempts) throw await failed(attempts, domain, caller)
    if (verifying.isRunning(registration_id)) return 'verifying'
    const most = await budget.ways(registration, address, caller)
    // Another call may have begun while this one was counted.
    if (verifying.isRunning(registration_id)) return 'verifying'
    verifying.start(registration_id, async () => {
      const proof = await look(most)
      if (proof.proved) await registrations.prove(registration, proof.method)
      return proof
    })
    return 'verifying'
  }

  async function failed(attempts: readonly object[], domain: string, caller: Caller) {
    await abuse.failed('invalid_domains', caller.client_ip, domain)
    return formBridgeError('proof_failed', { data: { attempts } })
  }
}
