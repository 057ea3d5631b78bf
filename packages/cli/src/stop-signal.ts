import { once } from 'node:events'

/** Resolves when the process is asked to end; a second time it ends at once. */
export async function stopSignal(): Promise<void> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
}
