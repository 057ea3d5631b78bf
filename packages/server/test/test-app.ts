/** The app of a server on a store of tests. */
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import { createServerApp, type ServerApp, type ServerOptions } from '../src/app.ts'

type Given = Omit<Partial<ServerOptions>, 'store' | 'kms'> &
  Pick<ServerOptions, 'services' | 'settings'> & {
    db: Db
    /** For tests that restart it; otherwise it gets a new key. */
    key?: KmsKey
  }

const described = { label: 'Test', detail: 'here', location: 'here', check: async () => {} }

export async function testApp({ db, key, ...given }: Given): Promise<ServerApp> {
  return createServerApp({
    store: { ...described, db, kind: 'endpoint', close: async () => {} },
    kms: { ...described, key: key ?? (await testKmsKey()), kind: 'embedded' },
    publicUrl: 'https://strongroom.example',
    log: silentLog,
    clock: testClock(),
    metrics: createMetrics(),
    ...given,
  })
}
