/** Tries the ways in their order and stops at the first that proves the domain. */
import { ProofMethod } from '../items/registration.ts'
import type { ProofSubject } from '../signing/domain-proof.ts'
import type { SiteAddress } from '../sites/domain.ts'
import type { Attempt } from './attempt.ts'
import type { Way } from './ways.ts'

export type Proof =
  | { proved: true; method: ProofMethod }
  | { proved: false; attempts: readonly Attempt[] }

export type Prove = (
  address: SiteAddress,
  subject: ProofSubject,
  methods?: readonly ProofMethod[],
) => Promise<Proof>

export function createProve(ways: Record<ProofMethod, Way>): Prove {
  return async (address, subject, methods = ProofMethod.options) => {
    const attempts: Attempt[] = []
    for (const method of ProofMethod.options.filter((each) => methods.includes(each))) {
      const tried = await ways[method](address, subject)
      if (tried.result === 'proved') return { proved: true, method }
      attempts.push(tried)
    }
    return { proved: false, attempts }
  }
}
