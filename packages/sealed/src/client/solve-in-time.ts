/** The proof of work of a sender, which must end before its token expires. */
import { type Challenge, solveWork } from '../crypto/proof-of-work.ts'
import { RequestFailed } from './errors.ts'

export type Solve = (
  challenge: Challenge,
  ciphertext: Uint8Array,
  options: { signal: AbortSignal },
) => Promise<number>

export interface WorkOptions {
  /** A page does the work in a worker. */
  solve?: Solve
  signal?: AbortSignal
  workTimeoutMs?: number
}

/** Less than TOKEN_SECONDS, to leave time for the requests. */
const WORK_TIMEOUT_MS = 4.5 * 60 * 1000

export async function solveInTime(
  challenge: Challenge,
  ciphertext: Uint8Array,
  { solve = solveWork, signal, workTimeoutMs = WORK_TIMEOUT_MS }: WorkOptions,
): Promise<number> {
  return withTimeout({ signal, workTimeoutMs }, (workSignal) =>
    solve(challenge, ciphertext, { signal: workSignal }),
  )
}

/** Many browsers do not support `AbortSignal.any`. */
async function withTimeout<T>(
  { signal, workTimeoutMs }: { signal: AbortSignal | undefined; workTimeoutMs: number },
  work: (workSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(new RequestFailed('too_hard')), workTimeoutMs)
  signal?.addEventListener('abort', onAbort)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
