/** The stores that every service's tests run on. */
import { inject } from 'vitest'
import { createAwsDb } from '../aws-db.ts'
import type { Db } from '../db.ts'
import { prefixTables } from '../prefix-tables.ts'

export interface TestStore {
  name: string
  /** A store of its own for one test file: no other test sees its tables. */
  open(): Promise<{ db: Db; close(): Promise<void> }>
}

let opened = 0

export function testStores(): TestStore[] {
  const endpoint = inject('dynamodbLocal')
  return endpoint === null ? [] : [dynamodbLocal(endpoint)]
}

function dynamodbLocal(endpoint: string): TestStore {
  return {
    name: 'DynamoDB Local',
    async open() {
      const aws = createAwsDb({
        endpoint,
        region: 'eu-central-1',
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      })
      const db = prefixTables(aws, `t${process.pid}-${opened++}-${Date.now()}-`)
      return { db, close: async () => aws.close() }
    },
  }
}
