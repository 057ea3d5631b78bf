/**
 * Proofs that take more than one call of a site.
 *
 * A host with a single PHP worker cannot respond while it waits for the exchange, so the proof runs
 * in the background. Success is stored with the registration; a failure is kept in memory for the
 * next call. If a call may try only one method, the failed attempts are kept in memory as well, until
 * all methods were tried.
 */
import type { Log } from '@strongroom/kit/log'
import { LRUCache } from 'lru-cache'
import type { Attempt } from './attempt.ts'
import type { Proof } from './service.ts'

const MAX_ENTRIES = 1_000

export type ProofRunner = ReturnType<typeof createProofRunner>

export function createProofRunner({ log }: { log: Log }) {
  const running = new Map<string, Promise<void>>()
  const failed = new LRUCache<string, readonly Attempt[]>({ max: MAX_ENTRIES })
  const unfinished = new LRUCache<string, readonly Attempt[]>({ max: MAX_ENTRIES })

  function saveProgress(registration_id: string, proof: Proof): Proof {
    unfinished.delete(registration_id)
    if (!proof.proved && !proof.finished) unfinished.set(registration_id, proof.attempts)
    return proof
  }

  async function run(registration_id: string, prove: () => Promise<Proof>): Promise<void> {
    try {
      const proof = saveProgress(registration_id, await prove())
      if (!proof.proved && proof.finished) failed.set(registration_id, proof.attempts)
    } catch (error) {
      // The next call of the site starts over.
      log.error('domain proof failed', { error })
    } finally {
      running.delete(registration_id)
    }
  }

  return {
    saveProgress,

    isRunning: (registration_id: string) => running.has(registration_id),

    /** Attempts of an unfinished proof. */
    alreadyTried: (registration_id: string) => unfinished.get(registration_id) ?? [],

    /** Returns the attempts of a failed proof, once. */
    takeFailure(registration_id: string): readonly Attempt[] | undefined {
      const attempts = failed.get(registration_id)
      failed.delete(registration_id)
      return attempts
    },

    start(registration_id: string, prove: () => Promise<Proof>): void {
      running.set(registration_id, run(registration_id, prove))
    },

    /** Resolves when no proof is running. */
    async idle(): Promise<void> {
      await Promise.all(running.values())
    },
  }
}
