/**
 * Proofs that nobody waits for: a host with one PHP worker cannot answer while it asks. Success is
 * noted with the registration; a failure is remembered here until it is asked for.
 */
import type { Log } from '@strongroom/kit/log'
import type { Attempt } from './attempt.ts'
import type { Proof } from './prove.ts'

const MOST = 1_000

export type Verifying = ReturnType<typeof createVerifying>

export function createVerifying({ log }: { log: Log }) {
  const running = new Map<string, Promise<void>>()
  const failed = new Map<string, readonly Attempt[]>()

  async function run(registration_id: string, prove: () => Promise<Proof>): Promise<void> {
    try {
      const proof = await prove()
      if (proof.proved) return
      if (failed.size >= MOST) failed.clear()
      failed.set(registration_id, proof.attempts)
    } catch (error) {
      // Nobody waits for it: the next call of the site tries anew.
      log.error('Cannot verify a domain', { error })
    } finally {
      running.delete(registration_id)
    }
  }

  return {
    isRunning: (registration_id: string) => running.has(registration_id),

    /** What failed before; told once. */
    failure(registration_id: string): readonly Attempt[] | undefined {
      const attempts = failed.get(registration_id)
      failed.delete(registration_id)
      return attempts
    },

    start(registration_id: string, prove: () => Promise<Proof>): void {
      running.set(registration_id, run(registration_id, prove))
    },

    /** Ends when what runs has ended. */
    async settle(): Promise<void> {
      await Promise.all(running.values())
    },
  }
}
