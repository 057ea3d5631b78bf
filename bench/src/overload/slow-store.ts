// A store that commits one write after the other, each after 2 ms: the engine over HTTP in its own process.
// With it, a server saturates below 500 requests per second, so that any generator can offer five times that.
// Usage: <directory>.

import { setTimeout as pause } from 'node:timers/promises'
import { openEngine } from '@strongroom/engine/engine'
import { serve } from '@strongroom/engine/wire/server'

const COMMIT_MS = 2
const WRITES = new Set([
  'BatchWriteItem',
  'DeleteItem',
  'PutItem',
  'TransactWriteItems',
  'UpdateItem',
])

const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('Usage: slow-store.js <directory>')
const engine = await openEngine({ directory })
let last: Promise<unknown> = Promise.resolve()
const slow: typeof engine = {
  ...engine,
  handle(operation, request, address) {
    if (!WRITES.has(operation)) return engine.handle(operation, request, address)
    const committed = last.then(async () => {
      await pause(COMMIT_MS)
      return engine.handle(operation, request, address)
    })
    last = committed.catch(() => {})
    return committed
  },
}
const server = await serve(slow, { port: 0 })
process.stdout.write(JSON.stringify({ url: server.url }))
process.once('SIGTERM', () => {
  void server.close().then(() => engine.close())
})
