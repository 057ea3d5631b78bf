// A program that a product is compared with, in its own process. Its log is discarded like the product's, so
// it reports over the channel to its parent that it is ready.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface PeerProcess {
  /** Empty if it does not listen. */
  url: string
  pid: number
  close(): Promise<void>
}

export interface Ready {
  url: string
}

/** Starts an entry point of the benchmark, such as `ferryhook/relay.js`. */
export async function startPeer(entry: string, env: NodeJS.ProcessEnv): Promise<PeerProcess> {
  const child = fork(fileURLToPath(new URL(entry, import.meta.url)), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (ready: Ready) => resolve(ready.url))
    child.once('exit', (code) => reject(new Error(`${entry} ended with code ${code}`)))
  })
  return {
    url,
    pid: child.pid!,
    async close() {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** For the program itself. */
export function reportReady(url = ''): void {
  const ready: Ready = { url }
  process.send?.(ready)
  process.once('disconnect', () => process.exit(0))
}
