/** Waiting, handed in so that tests need not wait. */
export interface Timers {
  /** Runs once after that time, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void
}

/** None of them keeps the process alive. */
export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}
