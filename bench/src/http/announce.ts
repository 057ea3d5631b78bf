import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens, prints the URL for `ServerProcess`, and closes on SIGTERM. */
export function announce(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.stdout.write(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
  })
  process.once('SIGTERM', () => process.exit(0))
}
