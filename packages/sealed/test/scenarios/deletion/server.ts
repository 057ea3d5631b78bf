// Sealed on a data directory, on a port that it prints, until it is killed.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openEngine } from '@strongroom/engine/engine'
import { defineConfig } from '@strongroom/kit/config'
import { createApp } from '@strongroom/kit/http/app'
import { createHotMatcher, mountHotRoutes } from '@strongroom/kit/http/hot-routes'
import { nodeListener } from '@strongroom/kit/http/node'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/http/mount-service'
import { createTables } from '@strongroom/kit/tables'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { systemClock as clock } from '@strongroom/platform/clock'
import { sealedService } from '../../../src/service.ts'
import { sealedSettings } from '../../../src/settings.ts'
import { secretsTable } from '../../../src/tables.ts'

const [directory = ''] = process.argv.slice(2)
const db = await openEngine({ directory })
await createTables(db, [secretsTable, serverTable])
const log = createLog({ level: 'error', clock })
const metrics = createMetrics()
const app = createApp({ log, metrics, peerAddress: () => '127.0.0.1' })
const config = defineConfig(sealedSettings).parse({
  SEALED_DIFFICULTY: '0',
  SEALED_DIFFICULTY_PER_DOUBLING: '0',
  SEALED_TOKEN_LIMIT: '0',
  SEALED_REVEAL_LIMIT: '0',
  SEALED_BURN_LIMIT: '0',
  SEALED_STATUS_LIMIT: '0',
})
const running = await mountService(app, sealedService, {
  db,
  clock,
  log,
  metrics,
  secrets: testSecrets(),
  publicUrl: 'http://127.0.0.1',
  config,
})
const findHotRoute = createHotMatcher(mountHotRoutes(running, 'sealed', '/sealed'))
const server = createServer(nodeListener(app, findHotRoute))
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sealed/`)
})
