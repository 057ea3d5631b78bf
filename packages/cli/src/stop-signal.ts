/** A second signal sooner than this is the same one again: npm passes on what its whole group got. */
const SAME_SIGNAL_MS = 1000

let asked: Promise<void> | undefined

/** Resolves when the process is asked to end; asked again later, it ends at once. */
export async function stopSignal(): Promise<void> {
  asked ??= firstSignal()
  await asked
}

async function firstSignal(): Promise<void> {
  let askedAt: number | undefined
  await new Promise<void>((resolve) => {
    const ask = (signal: NodeJS.Signals) => {
      askedAt ??= performance.now()
      resolve()
      if (performance.now() - askedAt < SAME_SIGNAL_MS) return
      process.off('SIGINT', ask).off('SIGTERM', ask)
      process.kill(process.pid, signal)
    }
    process.on('SIGINT', ask).on('SIGTERM', ask)
  })
}
