/** The stores that every service's tests run on. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { inject } from 'vitest'
import { createAwsDb } from '../aws-db.ts'
import type { Db } from '../db.ts'
import { prefixTables } from '../prefix-tables.ts'

export interface TestStore {
  name: string
  /** A store of its own for one test file: no other test sees its tables. */
  open(): Promise<{ db: Db; close(): Promise<void> }>
}

/** The embedded engine, and DynamoDB Local where Java is found. */
export function testStores(): TestStore[] {
  const endpoint = inject('dynamodbLocal')
  return endpoint === null ? [embeddedEngine] : [embeddedEngine, dynamodbLocal(endpoint)]
}

/**
 * For whole services, and for many calls in a row of kinds that other tests make on every store: the
 * others with SLOW=1.
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
        // On a busy machine its first answers take longer than those of AWS ever do.
        requestHandler: { requestTimeout: 50_000, throwOnRequestTimeout: true },
      })
      const db = prefixTables(aws, `t${process.pid}-${opened++}-${Date.now()}-`)
      return { db, close: async () => aws.close() }
    },
  }
}
