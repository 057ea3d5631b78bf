/** A relay on a data directory, for the killed processes and for the checks afterwards. */
import { openEngine } from '@strongroom/engine/engine'
import type { Clock } from '@strongroom/platform/clock'
import { createTables } from '@strongroom/kit/tables'
import { createCursors } from '@strongroom/kit/cursor'
import { silentLog as log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { createWorkScheduler } from '../../../src/sandbox/work-scheduler.ts'
import { createStores } from '../../../src/stores.ts'
import { createWorker } from '../../../src/worker/worker.ts'
import { tables } from '../../../src/tables.ts'

/** A process whose clock is this much ahead. */
export const laterClock = (ms: number): Clock => ({ now: () => Date.now() + ms })

export async function openRelay(directory: string, clock: Clock) {
  const engine = await openEngine({ directory, sweepIntervalMs: 0 })
  await createTables(engine, tables)
  const cursors = createCursors(new Uint8Array(32))
  const stores = createStores({ db: engine, clock, cursors })
  const metrics = createMetrics()
  return {
    stores,
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
      const scheduler = createWorkScheduler()
      const given = { stores, clock, fetcher, secretBox, sandbox, scheduler, log }
      const workerConfig = { pollMs: 20, cacheMs: 0 }
      return createWorker({ ...given, metrics: createMetrics(), workerConfig })
    },
    close: () => engine.close(),
  }
}

export type Relay = Awaited<ReturnType<typeof openRelay>>
