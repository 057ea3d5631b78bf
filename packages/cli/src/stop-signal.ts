/** npm repeats a signal that the whole process group received, so a second one this soon is ignored. */
const SAME_SIGNAL_MS = 1000

let stopping: Promise<void> | undefined

/** Resolves on the first SIGINT or SIGTERM. A later one ends the process immediately. */
export async function stopSignal(): Promise<void> {
  stopping ??= firstSignal()
  await stopping
}

async function firstSignal(): Promise<void> {
  let receivedAt: number | undefined
  await new Promise<void>((resolve) => {
    const onSignal = (signal: NodeJS.Signals) => {
      receivedAt ??= performance.now()
      resolve()
      if (performance.now() - receivedAt < SAME_SIGNAL_MS) return
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
      process.kill(process.pid, signal)
    }
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  })
}
