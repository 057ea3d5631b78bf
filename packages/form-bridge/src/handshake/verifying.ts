/**
 * Proofs that take more than one call. A host with one PHP worker cannot answer while it asks, so
 * nobody waits: success is noted with the registration, a failure is remembered here until it is
 * asked for. And of a host that is asked too often one way is tried at each call: what was tried is
 * remembered here until all ways were.
 */
import type { Log } from '@strongroom/kit/log'
import type { Attempt } from './attempt.ts'
import type { Proof } from './prove.ts'

const MOST = 1_000

export type Verifying = ReturnType<typeof createVerifying>

export function createVerifying({ log }: { log: Log }) {
  const running = new Map<string, Promise<void>>()
  const failed = new Map<string, readonly Attempt[]>()
  const unfinished = new Map<string, readonly Attempt[]>()

  function note(registration_id: string, proof: Proof): Proof {
    unfinished.delete(registration_id)
    if (!proof.proved && !proof.finished) remember(unfinished, registration_id, proof.attempts)
    return proof
  }

  async function run(registration_id: string, prove: () => Promise<Proof>): Promise<void> {
    try {
      const proof = note(registration_id, await prove())
      if (!proof.proved && proof.finished) remember(failed, registration_id, proof.attempts)
    } catch (error) {
      // Nobody waits for it: the next call of the site tries anew.
      log.error('Cannot verify a domain', { error })
    } finally {
      running.delete(registration_id)
    }
  }

  return {
    note,

    isRunning: (registration_id: string) => running.has(registration_id),

    /** What was tried without success while other ways are left. */
    before: (registration_id: string) => unfinished.get(registration_id) ?? [],

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

function remember(
  known: Map<string, readonly Attempt[]>,
  registration_id: string,
  attempts: readonly Attempt[],
): void {
  if (known.size >= MOST) known.clear()
  known.set(registration_id, attempts)
}
