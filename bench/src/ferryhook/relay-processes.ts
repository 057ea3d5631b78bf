// The relay with its Redis: the process that receives, and the one that delivers.

import { type PeerProcess, startPeer } from '../http/peer-process.ts'
import { startRedis } from '../http/redis.ts'

const RELAY = 'ferryhook/relay.js'

export interface Relay {
  url: string
  /** Redis and the receiver. */
  processes: readonly number[]
  startWorker(destination: string): Promise<PeerProcess>
  close(): Promise<void>
}

export async function startRelay(directory: string): Promise<Relay> {
  const redis = await startRedis(directory)
  const receiver = await startPeer(RELAY, { ROLE: 'ingest', REDIS_URL: redis.url })
  return {
    url: receiver.url,
    processes: [redis.pid, receiver.pid],
    startWorker: (destination) =>
      startPeer(RELAY, { ROLE: 'worker', REDIS_URL: redis.url, SINK: destination }),
    async close() {
      await receiver.close()
      await redis.close()
    },
  }
}
