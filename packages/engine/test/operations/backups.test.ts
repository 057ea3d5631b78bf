import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openEngine } from '../../src/engine.ts'
import { checkStorage } from '../../src/storage/check.ts'
import type { Item } from '../../src/values/types.ts'
import {
  all,
  change,
  changesIn,
  create,
  fill,
  recover,
  recovery,
  restore,
} from '../support/backups.ts'
import { freshEngine, movableClock, notes, plain, refusal } from '../support/engine.ts'

const DAY = 24 * 3600
const SLOW = process.env['SLOW'] === '1'

describe('a backup', () => {
  test('is the table as it was, though it is written to while it is copied', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await fill(engine, 1500)
    const before = await all(engine, 'plain')
    const { BackupArn = '' } = await create(engine)
    let writes = 0
    for (let status = ''; status !== 'AVAILABLE'; writes++) {
      await Promise.all([
        change(engine, `item-${(writes * 37) % 1500}`),
        engine.putItem({ TableName: 'plain', Item: { id: `new-${writes}` } }),
        engine.deleteItem({ TableName: 'plain', Key: { id: `item-${1499 - (writes % 1500)}` } }),
      ])
      const { BackupDescription } = await engine.describeBackup({ BackupArn })
      status = BackupDescription?.BackupDetails?.BackupStatus ?? ''
    }
    // Writes did not have to wait for the copy.
    expect(writes).toBeGreaterThan(3)
    expect(await restore(engine, { BackupArn })).toEqual(before)
    const { BackupDescription } = await engine.describeBackup({ BackupArn })
    expect(BackupDescription?.SourceTableDetails?.ItemCount).toBe(1500)
    expect((await checkStorage(engine.storage)).problems).toEqual([])
    // What was kept for the sake of the copy is gone.
    expect(changesIn(engine)).toBe(0)
    expect(engine.storage.table('plain')?.logs).toBeUndefined()
  })

  test('is finished by the next process if this one ends', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await fill(engine, 1500)
    const before = await all(engine, 'plain')
    const details = await create(engine)
    await engine.close()
    const { directory } = engine.storage
    const again = await openEngine({ directory, sweepIntervalMs: 0 })
    try {
      await change(again, 'item-1')
      await again.settled()
      await again.deleteTable({ TableName: 'plain' })
      await again.settled()
      expect(await restore(again, details)).toEqual(before)
    } finally {
      await again.close()
    }
  })

  test('stays as it is while it is being restored, and so does the new table', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await fill(engine, 2000)
    const { BackupArn = '' } = await create(engine)
    await engine.settled()
    const { TableDescription } = await engine.restoreTableFromBackup({
      BackupArn,
      TargetTableName: 'restored',
    })
    expect(TableDescription?.TableStatus).toBe('CREATING')
    const answers = await Promise.all([
      refusal(engine.deleteBackup({ BackupArn })),
      refusal(engine.restoreTableFromBackup({ BackupArn, TargetTableName: 'other' })),
      refusal(engine.deleteTable({ TableName: 'restored' })),
      refusal(engine.putItem({ TableName: 'restored', Item: { id: 'x' } })),
      refusal(engine.createBackup({ TableName: 'restored', BackupName: 'backup' })),
    ])
    expect(answers.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      `BackupInUseException: Backup is being used to restore table: ${BackupArn}`,
      `BackupInUseException: Backup is being used to restore another table: ${BackupArn}`,
      'ResourceInUseException: Attempt to change a resource which is still in use: Table is being created: restored',
      'ResourceNotFoundException: Requested resource not found',
      'TableNotFoundException: Table not found: restored',
    ])
    await engine.settled()
    await engine.deleteBackup({ BackupArn })
    await engine.settled()
    expect(await all(engine, 'restored')).toHaveLength(2000)
    expect((await checkStorage(engine.storage)).problems).toEqual([])
  })

  test('cannot be restored or deleted while it is being made', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await fill(engine, 1500)
    const { BackupArn = '' } = await create(engine)
    const inUse = {
      name: 'BackupInUseException',
      message: `Backup is being created: ${BackupArn}`,
    }
    expect(await refusal(engine.deleteBackup({ BackupArn }))).toMatchObject(inUse)
    const request = { BackupArn, TargetTableName: 'restored' }
    expect(await refusal(engine.restoreTableFromBackup(request))).toMatchObject(inUse)
  })

  test('of a table with indexes is restored with entries that agree with the items', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    for (let n = 0; n < 40; n++) {
      const Item = { pk: `p${n % 4}`, sk: n, owner: `o${n % 3}`, since: n, title: 't' }
      await engine.putItem({ TableName: 'notes', Item })
    }
    const details = await create(engine, 'notes')
    await engine.settled()
    expect(await restore(engine, details)).toEqual(await all(engine, 'notes'))
    expect((await checkStorage(engine.storage)).problems).toEqual([])
    const { Count } = await engine.query({
      TableName: 'restored',
      IndexName: 'by-owner',
      KeyConditionExpression: '#o = :o',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':o': 'o1' },
    })
    expect(Count).toBe(13)
  })
})

describe('recovery to a point in time', () => {
  const operation = fc.record({
    do: fc.constantFrom('put', 'change', 'delete', 'batch', 'moment', 'backup'),
    id: fc.integer({ min: 0, max: 4 }).map((n) => `id-${n}`),
    n: fc.integer({ min: 0, max: 2 }),
    seconds: fc.constantFrom(0, 0, 1, 60),
  })

  test('gives what there was at each of many moments', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
        const clock = movableClock()
        const engine = await freshEngine({ clock })
        await engine.createTable(plain)
        await fill(engine, 3)
        await recovery(engine)
        const expected = new Map<string, Item[]>()
        let tables = 0
        for (const { do: what, id, n, seconds } of operations) {
          clock.advanceSeconds(seconds)
          if (what === 'put') await engine.putItem({ TableName: 'plain', Item: { id, n } })
          else if (what === 'change') await change(engine, id)
          else if (what === 'delete') await engine.deleteItem({ TableName: 'plain', Key: { id } })
          else if (what === 'batch') await fill(engine, n * 3)
          else {
            // Asked for now, and made while later operations change the table.
            tables += 1
            const name = `table-${tables}`
            expected.set(name, await all(engine, 'plain'))
            if (what === 'moment') {
              const at = clock.now()
              clock.advanceSeconds(1)
              await change(engine, id)
              await recover(engine, at, name)
            } else {
              const { BackupArn = '' } = await create(engine)
              await change(engine, id)
              await engine.settled()
              await engine.restoreTableFromBackup({ BackupArn, TargetTableName: name })
            }
          }
        }
        await engine.settled()
        for (const [name, items] of expected) expect(await all(engine, name)).toEqual(items)
        expect((await checkStorage(engine.storage)).problems).toEqual([])
      }),
      { numRuns: SLOW ? 300 : 15 },
    )
  })

  test('reaches back for its period, and what is older is removed', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    await recovery(engine, 2)
    const start = clock.now()
    for (let day = 0; day < 4; day++) {
      await change(engine, 'a')
      clock.advanceSeconds(DAY)
      await engine.sweep()
    }
    expect(changesIn(engine)).toBe(1)
    await recover(engine, start + 3 * DAY * 1000 - 1, 'third')
    await engine.settled()
    expect(await all(engine, 'third')).toEqual([{ id: 'a', n: 3 }])
    expect((await refusal(recover(engine, start + DAY * 1000, 'first'))).name).toBe(
      'InvalidRestoreTimeException',
    )
  })

  test('does not offer times again that a shorter period has removed', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    await recovery(engine, 35)
    clock.advanceSeconds(10 * DAY)
    await recovery(engine, 1)
    await recovery(engine, 35)
    const { ContinuousBackupsDescription } = await engine.describeContinuousBackups({
      TableName: 'plain',
    })
    const { EarliestRestorableDateTime } =
      ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {}
    expect(EarliestRestorableDateTime).toBe(clock.now() / 1000 - DAY)
  })

  test('leaves nothing behind when it is switched off', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await recovery(engine)
    await change(engine, 'a')
    expect(changesIn(engine)).toBe(1)
    await recovery(engine, undefined, false)
    await engine.settled()
    expect(changesIn(engine)).toBe(0)
    await change(engine, 'a')
    expect(changesIn(engine)).toBe(0)
  })

  test('keeps a dropped table for thirty-five days', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    await recovery(engine)
    await change(engine, 'a')
    await engine.deleteTable({ TableName: 'plain' })
    await engine.settled()
    const list = async () =>
      (await engine.listBackups({ BackupType: 'SYSTEM' })).BackupSummaries ?? []
    const [kept = {}] = await list()
    expect(await restore(engine, kept)).toEqual([{ id: 'a', n: 1 }])
    clock.advanceSeconds(35 * DAY)
    await engine.sweep()
    await engine.settled()
    expect(await list()).toEqual([])
    expect((await checkStorage(engine.storage)).items).toBe(1)
  })
})

test('a table that is deleted while it is copied leaves its backups, and nothing else', async () => {
  const engine = await freshEngine()
  await engine.createTable(plain)
  await fill(engine, 1500)
  const before = await all(engine, 'plain')
  await recovery(engine)
  await create(engine)
  await engine.deleteTable({ TableName: 'plain' })
  await engine.settled()
  expect(engine.storage.tables()).toEqual([])
  expect(changesIn(engine)).toBe(0)
  expect(await checkStorage(engine.storage)).toMatchObject({ items: 3000, problems: [] })
  const { BackupSummaries = [] } = await engine.listBackups({ BackupType: 'ALL' })
  const kinds = BackupSummaries.map((each) => `${each.BackupType} ${each.BackupStatus}`)
  expect(kinds.toSorted()).toEqual(['SYSTEM AVAILABLE', 'USER AVAILABLE'])
  for (const summary of BackupSummaries) {
    expect(await restore(engine, summary)).toEqual(before)
    await engine.deleteTable({ TableName: 'restored' })
  }
})
