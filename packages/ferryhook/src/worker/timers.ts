import { startTimer } from '@strongroom/platform/timers'

/** The only way in which a worker waits, so that tests can move time. */
export interface Timers {
  /** Calls once, unless the returned function is called first. */
  after(ms: number, call: () => void): () => void
}

export const systemTimers: Timers = { after: startTimer }
