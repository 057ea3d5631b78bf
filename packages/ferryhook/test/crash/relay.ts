/** A relay on the data of a directory: for the processes that are killed, and for who looks after. */
import { openEngine } from '@strongroom/engine/engine'
import type { Clock } from '@strongroom/kit/clock'
import { createTables } from '@strongroom/kit/create-tables'
import { createCursors } from '@strongroom/kit/cursor'
import { silentLog as log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { SecretBox } from '../../src/accounts/secret-box.ts'
import { createDataLayer } from '../../src/db/data-layer.ts'
import { createWorker } from '../../src/delivery/worker.ts'
import { tables } from '../../src/table.ts'

const PREFIX = Buffer.of(0x02, 0x04, 0x78)

/** All processes have to open what one of them has sealed. */
export const openBox: SecretBox = {
  seal: async (plaintext) => Buffer.concat([PREFIX, plaintext]),
  open: async (sealed) => Buffer.from(sealed).subarray(PREFIX.length),
}

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
      const given = { db: layer, clock, fetcher, secretBox: openBox, sandbox, log }
      const settings = { pollMs: 20, rememberMs: 0 }
      return createWorker({ ...given, metrics: createMetrics(), settings })
    },
    close: () => engine.close(),
  }
}

export type Relay = Awaited<ReturnType<typeof openRelay>>
