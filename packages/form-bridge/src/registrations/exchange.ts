/** Exchanges a registration for credentials once its domain is proved. */
import type { Clock } from '@strongroom/platform/clock'
import type { Authenticated } from '../authentication/service.ts'
import type { Credentials, CredentialService } from '../credentials/service.ts'
import { formBridgeError } from '../errors.ts'
import type { Caller } from '../limits/caller.ts'
import type { Usage } from '../limits/usage.ts'
import type { Attempt } from '../proofs/attempt.ts'
import type { ProofRunner } from '../proofs/runner.ts'
import type { ProofService } from '../proofs/service.ts'
import type { AbuseDetector } from '../security/abuse.ts'
import type { SiteAddress } from '../sites/address.ts'
import type { ProofMethod, Registration } from './item.ts'
import type { RegistrationCredentials, RegistrationService } from './service.ts'
import type { RegistrationStore } from './store.ts'

/** How long a proof from the background may be used. */
const MAX_PROOF_AGE_MS = 600_000

export interface ExchangeInput extends RegistrationCredentials {
  site_url: string
  methods?: readonly ProofMethod[] | undefined
  wait: boolean
  previous_api_key?: string | undefined
  /** The site that signed the request. */
  signer?: Authenticated | undefined
}

export type Exchange = ReturnType<typeof createExchange>

export function createExchange(deps: {
  clock: Clock
  registrations: Pick<RegistrationStore, 'recordProof'>
  registrationService: Pick<RegistrationService, 'requireAddress' | 'requirePending'>
  proofs: ProofService
  proofRunner: ProofRunner
  credentialService: CredentialService
  abuse: Pick<AbuseDetector, 'recordFailure'>
  usage: Pick<Usage, 'recordAddress'>
}) {
  const { clock, registrations, registrationService, proofs, proofRunner } = deps
  const { credentialService, abuse, usage } = deps

  function recentProof({ proved_by, proved_at }: Registration): ProofMethod | undefined {
    if (proved_at === undefined) return undefined
    return clock.now() - Date.parse(proved_at) > MAX_PROOF_AGE_MS ? undefined : proved_by
  }

  async function prove(
    registration: Registration,
    address: SiteAddress,
    input: ExchangeInput,
    caller: Caller,
  ): Promise<ProofMethod | 'verifying'> {
    const { registration_id, domain } = registration
    const { methods, temp_key } = input
    const tryMethods = (maxMethods: number) =>
      proofs.prove(
        address,
        { temp_key, registration_id, domain },
        { methods, alreadyTried: proofRunner.alreadyTried(registration_id), maxMethods },
      )
    if (input.wait) {
      const maxMethods = await proofs.reserveMethods(registration, address, caller)
      const proof = proofRunner.saveProgress(registration_id, await tryMethods(maxMethods))
      if (proof.proved) return proof.method
      throw await proofFailed(proof.attempts, domain, caller)
    }
    const attempts = proofRunner.takeFailure(registration_id)
    if (attempts) throw await proofFailed(attempts, domain, caller)
    if (proofRunner.isRunning(registration_id)) return 'verifying'
    const maxMethods = await proofs.reserveMethods(registration, address, caller)
    // A concurrent call may have started one while this call waited.
    if (proofRunner.isRunning(registration_id)) return 'verifying'
    proofRunner.start(registration_id, async () => {
      const proof = await tryMethods(maxMethods)
      if (proof.proved) await registrations.recordProof(registration, proof.method)
      return proof
    })
    return 'verifying'
  }

  async function proofFailed(attempts: readonly Attempt[], domain: string, caller: Caller) {
    await abuse.recordFailure('invalid_domains', caller.client_ip, domain)
    return formBridgeError('proof_failed', { data: { attempts } })
  }

  return {
    async exchange(input: ExchangeInput, caller: Caller): Promise<Credentials | 'verifying'> {
      usage.recordAddress('key_exchange', caller)
      const address = registrationService.requireAddress(input.site_url)
      const registration = await registrationService.requirePending(input, address, caller)
      const proved_by =
        recentProof(registration) ?? (await prove(registration, address, input, caller))
      if (proved_by === 'verifying') return proved_by
      const { previous_api_key, signer } = input
      const previous = { api_key: previous_api_key, signer }
      return credentialService.connect(registration, { address, proved_by, caller, previous })
    },
  }
}
