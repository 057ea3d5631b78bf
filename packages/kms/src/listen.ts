/** Where the HTTP face may listen: a port of this machine alone, or a socket of this user alone. */
import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'

const LOOPBACK = '127.0.0.1'

export type Place =
  | {
      /** On 127.0.0.1; 0 takes a free one. */
      port: number
    }
  | { socketPath: string }

export async function listen(server: Server, place: Place): Promise<void> {
  if ('port' in place) {
    server.listen(place.port, LOOPBACK)
    await once(server, 'listening')
    return
  }
  const { socketPath } = place
  await clearAbandoned(socketPath)
  server.listen(socketPath)
  await once(server, 'listening')
  // Until here it had the permissions of a new file; requests must be signed in any case.
  if (process.platform !== 'win32') await chmod(socketPath, 0o600)
}

/** A socket that nobody listens on is left over from a crash. */
async function clearAbandoned(socketPath: string): Promise<void> {
  const found = await lstat(socketPath).catch(() => undefined)
  if (!found) return
  if (!found.isSocket()) {
    throw new Error(`Cannot listen on "${socketPath}": there is a file of that name`)
  }
  if (await isAnswered(socketPath)) {
    throw new Error(`Cannot listen on "${socketPath}": another process does`)
  }
  await rm(socketPath)
}

async function isAnswered(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
