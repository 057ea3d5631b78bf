/** A real process for the crash test: receives, delivers, or does both. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from '@strongroom/kit/http/app'
import { createHotMatcher, mountHotRoutes } from '@strongroom/kit/http/hot-routes'
import { nodeListener } from '@strongroom/kit/http/node'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import type { Event } from '../../../../src/events/item.ts'
import { createIngest } from '../../../../src/ingest/handler.ts'
import { ingestRoutes } from '../../../../src/ingest/routes.ts'
import { laterClock, openRelay } from '../relay.ts'

const [role, directory = '', laterMs] = process.argv.slice(2)
const clock = laterClock(Number(laterMs))
const { stores, http, newWorker } = await openRelay(directory, clock)

if (role === 'worker') {
  newWorker().start()
  process.send?.({})
} else {
  const worker = role === 'both' ? newWorker() : undefined
  worker?.start()
  const reserve = worker?.reserve
  const onStored = (event: Event, isReserved: boolean) =>
    isReserved ? undefined : worker?.wake(event)
  const ingest = createIngest({ ...http, stores, clock, secretBox, reserve, onStored })
  const hotRoutes = mountHotRoutes(ingestRoutes(ingest), 'ferryhook', '/')
  const server = createServer(nodeListener(createApp(http), createHotMatcher(hotRoutes)))
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.send?.({ url: `http://127.0.0.1:${port}` })
  })
}
