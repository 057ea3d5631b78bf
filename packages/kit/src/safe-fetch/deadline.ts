/**
 * One deadline for a whole exchange: DNS, connect, TLS, headers and body of every hop. Timeouts
 * between two bytes let a server that sends one byte at a time hold a connection for ever.
 */
import { SafeFetchError } from './error.ts'

/** Calls `expire` once after `ms`, unless the returned function is called first. */
export type StartTimer = (ms: number, expire: () => void) => () => void

export interface Deadline {
  /** Its reason is the SafeFetchError, `timeout` or `aborted`. */
  readonly signal: AbortSignal
  /** The promise, or the deadline's error if that comes first. */
  race<Result>(work: Promise<Result>): Promise<Result>
  stop(): void
}

export const startTimer: StartTimer = (ms, expire) => {
  const timer = setTimeout(expire, ms)
  return () => clearTimeout(timer)
}

export function startDeadline(
  ms: number,
  caller: AbortSignal | undefined,
  start: StartTimer,
): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  const cancel = () => controller.abort(new SafeFetchError('aborted'))
  const stopTimer = start(ms, () => controller.abort(new SafeFetchError('timeout')))
  if (caller?.aborted) cancel()
  else caller?.addEventListener('abort', cancel, { once: true })

  return {
    signal,
    // undici looks at a signal only once it has a socket: a request that waits for DNS or for a
    // handshake has to be left from outside.
    race(work) {
      return new Promise((resolve, reject) => {
        const leave = () => reject(signal.reason as SafeFetchError)
        if (signal.aborted) leave()
        signal.addEventListener('abort', leave, { once: true })
        work.then(resolve, reject)
      })
    },
    stop() {
      stopTimer()
      caller?.removeEventListener('abort', cancel)
    },
  }
}
