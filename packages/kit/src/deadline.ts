/**
 * A time limit for a piece of work and everything below it: created where a request enters, and
 * passed down. It costs nothing until something waits, and its timer starts then.
 */
import type { StartTimer } from '@strongroom/platform/timers'
import type { Clock } from '@strongroom/platform/clock'

export interface Deadline {
  /** Aborts with `error(…)` as its reason. Created on first use. */
  readonly signal: AbortSignal
  readonly hasEnded: boolean
  /** Calls `leave` when the deadline passes, or immediately if it already has. Never after `stop`. */
  onEnd(leave: (reason: Error) => void): void
  /** 0 once it has passed. */
  remainingMs(): number
  /** The value of the work, or `late`; a failure after the deadline is swallowed. */
  settle<T>(work: Promise<T>): Promise<{ value: T } | 'late'>
  /** To be called when the work is done: ends the timer. */
  stop(): void
}

export interface DeadlineDeps {
  clock: Clock
  startTimer: StartTimer
  /** Ends the deadline early, as `aborted`. */
  parent?: AbortSignal | undefined
  error(why: 'timeout' | 'aborted'): Error
}

export function startDeadline(
  at: { ms: number } | { until: number },
  { clock, startTimer, parent, error }: DeadlineDeps,
): Deadline {
  const startedAt = clock.now()
  const totalMs = Math.max(0, 'ms' in at ? at.ms : at.until - startedAt)
  const waiting = new Set<(reason: Error) => void>()
  let controller: AbortController | undefined
  let ended: Error | undefined
  let stopTimer: (() => void) | undefined
  let isStarted = false

  // Not more than the total: after the clock was set back, too much would seem to be left.
  const remainingMs = () => Math.max(0, Math.min(totalMs, totalMs - (clock.now() - startedAt)))

  const onAbort = () => end('aborted')

  function start(): void {
    if (isStarted) return
    isStarted = true
    if (parent?.aborted) return end('aborted')
    parent?.addEventListener('abort', onAbort, { once: true })
    stopTimer = startTimer(remainingMs(), () => end('timeout'))
  }

  function stop(): void {
    isStarted = true
    stopTimer?.()
    parent?.removeEventListener('abort', onAbort)
  }

  function end(why: 'timeout' | 'aborted'): void {
    if (ended) return
    ended = error(why)
    stop()
    controller?.abort(ended)
    for (const leave of waiting) leave(ended)
    waiting.clear()
  }

  function onEnd(leave: (reason: Error) => void): void {
    start()
    if (ended) leave(ended)
    else waiting.add(leave)
  }

  return {
    get signal() {
      if (!controller) {
        controller = new AbortController()
        start()
        if (ended) controller.abort(ended)
      }
      return controller.signal
    },

    get hasEnded() {
      return ended !== undefined
    },

    onEnd,

    remainingMs,

    settle(work) {
      return new Promise((resolve, reject) => {
        const leave = () => resolve('late')
        onEnd(leave)
        const forget = () => void waiting.delete(leave)
        work.then(forget, forget)
        work.then((value) => resolve({ value }), reject)
      })
    },

    stop,
  }
}
