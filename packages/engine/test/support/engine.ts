/** An engine on a directory of its own, gone after the test, and the tables most tests want. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CreateTableInput } from '../../src/db.ts'
import { type Engine, type EngineOptions, openEngine } from '../../src/engine.ts'
import type { DynamoError } from '../../src/errors.ts'

export async function freshEngine(options: Partial<EngineOptions> = {}): Promise<Engine> {
  const directory = mkdtempSync(join(tmpdir(), 'engine-'))
  const engine = await openEngine({ directory, sweepIntervalMs: 0, ...options })
  onTestFinished(async () => {
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return engine
}

/** An engine for all tests of a suite, on a directory of its own that goes when it is closed. */
export async function engineForSuite(): Promise<{ engine: Engine; close: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'engine-'))
  const engine = await openEngine({ directory, sweepIntervalMs: 0 })
  return {
    engine,
    async close() {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A time that passes only when told to. */
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
