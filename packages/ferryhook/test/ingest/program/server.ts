/** A real server process for the crash test: ingest on an embedded engine, with nothing else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openEngine } from '@strongroom/engine/engine'
import { systemClock } from '@strongroom/kit/clock'
import { createTables } from '@strongroom/kit/create-tables'
import { createCursors } from '@strongroom/kit/cursor'
import { nodeRoutes } from '@strongroom/kit/http/node-routes'
import { silentLog as log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createDataLayer } from '../../../src/db/data-layer.ts'
import { createIngest } from '../../../src/ingest/ingest.ts'
import { ingestRoutes } from '../../../src/ingest/routes.ts'
import { tables } from '../../../src/table.ts'

const [directory = ''] = process.argv.slice(2)
const clock = systemClock
const engine = await openEngine({ directory })
await createTables(engine, tables)
const cursors = createCursors(new Uint8Array(32))
const db = createDataLayer({ db: engine, clock, cursors })

const { userId } = await db.users.create({
  email: `${process.pid}-${clock.now()}@example.com`,
  name: 'Ada',
  plan: 'team',
})
const { sourceId } = await db.sources.create({ userId, name: 'Crash', provider: 'github' })

const http = { log, metrics: createMetrics(), publicUrl: 'http://localhost' }
const noSecrets = async () => Promise.reject(new Error('There are no secrets here'))
const ingest = createIngest({
  ...http,
  db,
  clock,
  secretBox: { seal: noSecrets, open: noSecrets },
  hint: () => {},
})
const routes = nodeRoutes(
  ingestRoutes(ingest).plainRootRoutes.map((route) => ({ ...route, service: 'ferryhook' })),
  http,
)
const server = createServer((request, response) => void routes(request, response))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.({ url: `http://127.0.0.1:${port}/in/${sourceId}`, sourceId })
})
