/** A real process for the crash test: receives, or delivers. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeRoutes } from '@strongroom/kit/http/node-routes'
import { secretBox } from '@strongroom/kit/testing/test-secret-box'
import { createIngest } from '../../../src/ingest/ingest.ts'
import { ingestRoutes } from '../../../src/ingest/routes.ts'
import { laterClock, openRelay } from '../relay.ts'

const [role, directory = '', laterMs] = process.argv.slice(2)
const clock = laterClock(Number(laterMs))
const { layer, http, newWorker } = await openRelay(directory, clock)

if (role === 'worker') {
  newWorker().start()
  process.send?.({})
} else {
  const ingest = createIngest({ ...http, db: layer, clock, secretBox, hint: () => {} })
  const routes = nodeRoutes(
    ingestRoutes(ingest).plainRootRoutes.map((route) => ({ ...route, service: 'ferryhook' })),
    http,
  )
  const server = createServer((request, response) => void routes(request, response))
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.send?.({ url: `http://127.0.0.1:${port}` })
  })
}
