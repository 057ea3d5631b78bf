/**
 * A backup file and a data directory as an earlier version wrote them: later versions must read
 * both, and write the same file. The fixtures are never regenerated; a new format gets its own.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backup, restore } from '../../../src/backup.ts'
import { type Engine, openEngine } from '../../../src/engine.ts'
import { checkStorage } from '../../../src/storage/check.ts'
import type { Item } from '../../../src/values/types.ts'
import { all } from '../../support/backups.ts'
import { fixedClock, temporaryDirectory } from '../../support/programs/harness.ts'

const fixture = (name: string) => new URL(`../../fixtures/${name}`, import.meta.url)
const noteItems: Item[] = [0, 1, 2].map((n) => ({
  pk: 'a',
  sk: n,
  owner: 'ada',
  since: n,
  title: `Note ${n}`,
}))
const plainItem: Item = {
  id: 'all types',
  text: 'ä€😀',
  number: 1.5,
  bytes: new Uint8Array([0, 1, 255]),
  yes: true,
  nothing: null,
  list: [1, 'two', [3]],
  map: { a: { b: 'c' } },
  strings: new Set(['a', 'b']),
  numbers: new Set([1, 2]),
  expires: 4_000_000_000,
}

async function openIn(directory: string): Promise<Engine> {
  const engine = await openEngine({ directory, sweepIntervalMs: 0, clock: fixedClock() })
  onTestFinished(() => engine.close())
  return engine
}

const expected = {
  notes: noteItems,
  plain: [plainItem],
  byOwner: noteItems,
  ttl: { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' },
  stream: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
}

async function contents(engine: Engine): Promise<object> {
  const { Items: byOwner } = await engine.query({
    TableName: 'notes',
    IndexName: 'by-owner',
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': 'ada' },
  })
  const { TimeToLiveDescription: ttl } = await engine.describeTimeToLive({ TableName: 'plain' })
  const { Table } = await engine.describeTable({ TableName: 'plain' })
  return {
    notes: await all(engine, 'notes'),
    plain: await all(engine, 'plain'),
    byOwner,
    ttl,
    stream: Table?.StreamSpecification,
  }
}

describe('a backup file of format 2', () => {
  test('is restored with its tables, items, indexes and attachments', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const file = fixture('backup-format-2').pathname
    const manifest = await restore({ file, directory })
    expect(manifest).toMatchObject({ format: 2, attachments: ['note'] })
    expect(await contents(await openIn(directory))).toEqual(expected)
  })

  test('is written with the same bytes from what it was restored to', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const file = fixture('backup-format-2').pathname
    await restore({ file, directory })
    const engine = await openIn(directory)
    const attachments = [{ name: 'note', content: Buffer.from('attached') }]
    const again = join(temporaryDirectory(), 'backup')
    await backup(engine.storage, { file: again, clock: fixedClock(), attachments })
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true)
  })
})

describe.each([2, 3, 4, 5])('a data directory of format %i', (format) => {
  test('is opened with its tables, items, indexes and counts', async () => {
    const directory = join(temporaryDirectory(), 'data')
    mkdirSync(directory)
    const stored = fixture(`data-format-${format}/`)
    for (const name of readdirSync(stored)) {
      const content = readFileSync(new URL(name, stored))
      writeFileSync(join(directory, name.replace('.gz', '')), gunzipSync(content))
    }
    const engine = await openIn(directory)
    expect(await contents(engine)).toEqual(expected)
    const { Table } = await engine.describeTable({ TableName: 'notes' })
    expect(Table).toMatchObject({
      ItemCount: 3,
      TableSizeBytes: 97,
      GlobalSecondaryIndexes: [{ ItemCount: 3 }],
    })
    expect((await checkStorage(engine.storage)).problems).toEqual([])
  })
})
