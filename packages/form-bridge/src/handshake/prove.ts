/** Tries the ways in their order and stops at the first that proves the domain. */
import { ProofMethod } from '../items/registration.ts'
import type { ProofSubject } from '../signing/domain-proof.ts'
import type { SiteAddress } from '../sites/domain.ts'
import type { Attempt } from './attempt.ts'
import type { Way } from './ways.ts'

export type Proof =
  | { proved: true; method: ProofMethod }
  /** `finished`: no way is left. */
  | { proved: false; attempts: readonly Attempt[]; finished: boolean }

export interface Trying {
  methods?: readonly ProofMethod[] | undefined
  /** What was tried before and is not tried again. */
  before: readonly Attempt[]
  /** How many ways may be tried now. */
  most: number
}

export type Prove = (address: SiteAddress, subject: ProofSubject, trying: Trying) => Promise<Proof>

export function createProve(ways: Record<ProofMethod, Way>): Prove {
  return async (address, subject, { methods = ProofMethod.options, before, most }) => {
    const wanted = ProofMethod.options.filter((each) => methods.includes(each))
    const untried = wanted.filter((each) => !before.some(({ method }) => method === each))
    // Whoever asks once more for what has failed has mended it.
    const [left, earlier] = untried.length > 0 ? [untried, before] : [wanted, []]
    const now = left.slice(0, most)
    const attempts = [...earlier]
    for (const method of now) {
      const tried = await ways[method](address, subject)
      if (tried.result === 'proved') return { proved: true, method }
      attempts.push(tried)
    }
    return { proved: false, attempts, finished: now.length === left.length }
  }
}
