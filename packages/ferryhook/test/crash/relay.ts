/** A relay on the data of a directory: for the processes that are killed, and for who looks after. */
import { openEngine } from '@strongroom/engine/engine'
import type { Clock } from '@strongroom/kit/clock'
import { createTables } from '@strongroom/kit/create-tables'
import { createCursors } from '@strongroom/kit/cursor'
import { silentLog as log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { secretBox } from '@strongroom/kit/testing/test-secret-box'
import { createDataLayer } from '../../src/db/data-layer.ts'
import { createWorker } from '../../src/delivery/worker.ts'
import { tables } from '../../src/table.ts'

/** A process that begins so much later than it really does. */
export const laterClock = (ms: number): Clock => ({ now: () => Date.now() + ms })

export async function openRelay(directory: string, clock: Clock) {
  const engine = await openEngine({ directory, sweepIntervalMs: 0 })
  await createTables(engine, tables)
  const cursors = createCursors(new Uint8Array(32))
  const layer = createDataLayer({ db: engine, clock, cursors })
  const metrics = createMetrics()
  return {
    layer,
    http: { log, metrics, publicUrl: 'http://localhost' },
    newWorker() {
      const fetcher = createSafeFetch({
        allow: ['127.0.0.0/8'],
        allowHttp: true,
        ports: 'unprivileged',
      })
      const sandbox = {
        run: async () => Promise.reject(new Error('No scripts')),
        close: async () => {},
      }
      const given = { db: layer, clock, fetcher, secretBox, sandbox, log }
      const settings = { pollMs: 20, rememberMs: 0 }
      return createWorker({ ...given, metrics: createMetrics(), settings })
    },
    close: () => engine.close(),
  }
}

export type Relay = Awaited<ReturnType<typeof openRelay>>
