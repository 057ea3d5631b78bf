/** An engine on a temporary directory, and the tables that most tests use. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CreateTableInput } from '../../src/db.ts'
import { type Engine, type EngineOptions, openEngine } from '../../src/engine.ts'
import type { DynamoError } from '../../src/errors.ts'

/** Every suite must also pass on encrypted tables: items look the same through every interface. */
const encrypted = process.env['ENCRYPTED'] === '1'

export async function freshEngine(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const directory = mkdtempSync(join(tmpdir(), 'engine-'))
  const engine = await openEngine({ directory, sweepIntervalMs: 0, encrypted, ...options })
  onTestFinished(async () => {
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return engine
}

/** An engine for all tests of a suite, on a temporary directory that is removed on close. */
export async function engineForSuite(): Promise<{ engine: Engine; close: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'engine-'))
  const engine = await openEngine({ directory, sweepIntervalMs: 0, encrypted })
  return {
    engine,
    async close() {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A clock that only the test moves. */
export function movableClock(start = Date.UTC(2026, 0, 1)) {
  let time = start
  return {
    now: () => time,
    advanceSeconds(seconds: number) {
      time += seconds * 1000
    },
  }
}

/** Partition key `pk`, sort key `sk`, and the index `by-owner` on `owner` and `since`. */
export const notes: CreateTableInput = {
  TableName: 'notes',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'N' },
    { AttributeName: 'owner', AttributeType: 'S' },
    { AttributeName: 'since', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-owner',
      KeySchema: [
        { AttributeName: 'owner', KeyType: 'HASH' },
        { AttributeName: 'since', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] },
    },
  ],
}

/** Partition key `id` alone, no index. */
export const plain: CreateTableInput = {
  TableName: 'plain',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

/** What a call is refused with; a call that succeeds fails the test. */
export async function refusal(call: Promise<unknown>): Promise<DynamoError> {
  try {
    await call
  } catch (error) {
    return error as DynamoError
  }
  throw new Error('The call succeeded')
}
