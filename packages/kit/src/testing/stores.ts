/** The stores that every service's tests run on. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { inject } from 'vitest'
import { createAwsDb } from '../aws-db.ts'
import type { Db } from '../db.ts'
import { prefixTables } from '../prefix-tables.ts'
import { retryingDb } from '../retrying-db.ts'
import { hostileDb } from './hostile-db.ts'

export interface TestStore {
  name: string
  /** A store for one test file: no other test sees its tables. */
  open(): Promise<{ db: Db; close(): Promise<void> }>
}

/** The embedded engine, and DynamoDB Local where Java is found. */
export function testStores(): TestStore[] {
  const endpoint = inject('dynamodbLocal')
  return endpoint ? [embeddedEngine, dynamodbLocal(endpoint)] : [embeddedEngine]
}

/**
 * The stores of `testStores`, and one of them (with SLOW=1 each) with throttling and conflicts, behind
 * the retries that the server puts around a store.
 *
 * Lost responses are left out: whether to repeat such a call is the caller's decision, so tests of it
 * use `hostileDb` themselves.
 */
export function everyStore(): TestStore[] {
  const stores = testStores()
  // The faults come from a wrapper, so one store shows nearly all of them in a fraction of the time.
  const faulty = process.env['SLOW'] ? stores : stores.slice(0, 1)
  return [...stores, ...faulty.map(withFaults)]
}

function withFaults(store: TestStore): TestStore {
  return {
    name: `${store.name} with faults`,
    async open() {
      const { db, close } = await store.open()
      const hostile = hostileDb(db, { seed: 2100, throttle: 0.15, conflict: 0.15 })
      return { db: retryingDb(hostile, { attempts: 40, pause: async () => {} }), close }
    },
  }
}

/**
 * For tests of whole services, and of many calls that other tests make on every store: one store, and
 * with SLOW=1 all of them.
 */
export function serviceStores(): TestStore[] {
  return testStores().slice(0, process.env['SLOW'] ? undefined : 1)
}

const embeddedEngine: TestStore = {
  name: 'the embedded engine',
  async open() {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    const engine = await openEngine({ directory })
    return {
      db: engine,
      async close() {
        await engine.close()
        await rm(directory, { recursive: true })
      },
    }
  },
}

let opened = 0

function dynamodbLocal(endpoint: string): TestStore {
  return {
    name: 'DynamoDB Local',
    async open() {
      const aws = createAwsDb({
        endpoint,
        region: 'eu-central-1',
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
        // On a busy machine its first responses take longer than those of AWS ever do.
        requestHandler: { requestTimeout: 50_000, throwOnRequestTimeout: true },
      })
      const db = prefixTables(aws, `t${process.pid}-${opened++}-${Date.now()}-`)
      return { db, close: async () => aws.close() }
    },
  }
}
