/** Injected timers, so that tests control when they fire. */

/** Calls `fire` once after `ms`, unless the returned function is called first. */
export type StartTimer = (ms: number, fire: () => void) => () => void

export const startTimer: StartTimer = (ms, fire) => {
  const timer = setTimeout(fire, ms)
  return () => clearTimeout(timer)
}

/** The same, without keeping the process alive. */
export const startBackgroundTimer: StartTimer = (ms, fire) => {
  const timer = setTimeout(fire, ms).unref()
  return () => clearTimeout(timer)
}
