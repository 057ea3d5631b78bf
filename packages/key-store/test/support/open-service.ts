/** The key store mounted in an app, on a test store, with an embedded KMS and an operator. */
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { createApp } from '@strongroom/kit/http/app'
import type { Kms, KmsKey } from '@strongroom/kit/kms'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { operationsTable } from '@strongroom/kit/operations-table'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/http/mount-service'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { afterAll, beforeAll } from 'vitest'
import { keyStoreService } from '../../src/service.ts'
import { branchKeysTable } from '../../src/tables.ts'

export interface OpenedService {
  db: Db
  clock: TestClock
  kmsKey: KmsKey
  token: string
  /** Everything that was logged, as text. */
  logged: string[]
  /** Asks as the operator, with a JSON body if one is given; returns the status and the answer. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  /** The same on another store, another KMS or other secrets. */
  askWith(other: {
    db?: Db
    kms?: Partial<Kms>
    secrets?: ServerSecrets
  }): Promise<OpenedService['ask']>
}

export interface Answer {
  status: number
  // Whatever came: tests say what they expect.
  body: unknown
  headers: Headers
}

export function openKeyStoreService(store: TestStore): OpenedService {
  const opened = {} as OpenedService & { close(): Promise<void> }

  beforeAll(async () => {
    const { db, close } = await store.open()
    const clock = testClock()
    await createTables(db, [branchKeysTable, serverTable, operationsTable])
    const kms = await createKms({
      masterKey: new Uint8Array(32).fill(7),
      storage: memoryKeyStorage(),
    })
    const { KeyMetadata } = await kms.createKey()
    const kmsKey = { kms, arn: KeyMetadata.Arn }
    const token = await createOperators({ db, clock }).add('tester')
    const logged: string[] = []

    async function asking(deps: {
      db: Db
      kmsKey: KmsKey
      secrets?: ServerSecrets
    }): Promise<OpenedService['ask']> {
      const log = createLog({ level: 'debug', sink: (line) => void logged.push(line) })
      const metrics = createMetrics()
      const app = createApp({ log, metrics })
      await mountService(app, keyStoreService, {
        secrets: testSecrets(),
        ...deps,
        clock,
        log,
        metrics,
        publicUrl: 'http://localhost:4280',
        config: {},
      })
      return async (method, path, body) => {
        const answer = await app.request(`/key-store/v1${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        return { status: answer.status, body: await answer.json(), headers: answer.headers }
      }
    }

    Object.assign(opened, { db, clock, kmsKey, token, logged, close })
    opened.ask = await asking({ db, kmsKey })
    opened.askWith = ({ kms: otherKms, ...other }) =>
      asking({ db, ...other, kmsKey: { ...kmsKey, kms: { ...kms, ...otherKms } } })
  })
  afterAll(() => opened.close())
  return opened
}
