import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createAuditLog, type AuditLog } from '../src/audit-log.ts'
import { type AuditMonthCheck, toAuditVerification } from '../src/audit-verification.ts'
import type { Db, Item } from '../src/db.ts'
import { ConditionFailed } from '../src/db-errors.ts'
import { entity } from '../src/entity.ts'
import { expr } from '../src/expression.ts'
import { operationsTable } from '../src/operations-table.ts'
import { defineTable } from '../src/table.ts'
import { createTables } from '../src/tables.ts'
import { everyStore } from '../src/testing/stores.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { transactParts } from '../src/transact.ts'

const notesTable = defineTable({
  name: 'notes',
  description: 'Notes',
  partitionKey: { name: 'PK', type: 'S' },
  pointInTimeRecovery: false,
})
const NoteItem = z.object({ PK: z.string(), text: z.string() })

describe.each(everyStore())('the audit log on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let log: AuditLog
  let clock: ReturnType<typeof testClock>
  const start = Date.parse('2100-01-01')
  const by = { actor: 'operator:ada', address: '192.0.2.1' }
  const notesOn = (on: Db) => entity(on, notesTable, NoteItem)
  const listed = async (filter: object = {}) => (await log.list({ limit: 100, ...filter })).items

  beforeEach(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [operationsTable, notesTable])
    clock = testClock()
    log = createAuditLog({ db, clock })
  })
  afterEach(() => close())

  test('has who did what, when, from where and what changed', async () => {
    const change = { ...by, action: 'notes.note.changed', target: 'note-1' }
    const before = { text: 'old' }
    const audited = log.audited({ ...change, before, after: { text: 'new' } })
    await notesOn(audited).put({ PK: 'note-1', text: 'new' })
    expect(await listed()).toEqual([
      {
        month: '2100-01',
        seq: 1,
        at: '2100-01-01T00:00:00.000Z',
        actor: 'operator:ada',
        address: '192.0.2.1',
        action: 'notes.note.changed',
        target: 'note-1',
        outcome: 'done',
        operation: undefined,
        before,
        after: { text: 'new' },
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    expect(await notesOn(db).get({ PK: 'note-1' })).toMatchObject({ text: 'new' })
  })

  test('has no entry of a change that was refused, and the refusal is reported as without it', async () => {
    const notes = notesOn(log.audited({ ...by, action: 'notes.note.created' }))
    const isAbsent = expr`attribute_not_exists(${notes.attr('PK')})`
    await notes.put({ PK: 'a', text: 'first' }, isAbsent)
    const again = notes.put({ PK: 'a', text: 'second' }, isAbsent)
    await expect(again).rejects.toThrow(ConditionFailed)
    await expect(again).rejects.toMatchObject({ item: { PK: 'a', text: 'first' } })
    const refused = await transactParts(log.audited({ ...by, action: 'notes.note.created' }), {
      other: notes.part.put({ PK: 'b', text: 'new' }),
      taken: notes.part.put({ PK: 'a', text: 'new' }, isAbsent),
    })
    expect(refused).toEqual({
      kind: 'refused',
      by: new Map([['taken', { PK: 'a', text: 'first' }]]),
    })
    expect(await listed()).toHaveLength(1)
    expect(await notesOn(db).get({ PK: 'b' })).toBeUndefined()
  })

  test('records updates and deletions, which return their items', async () => {
    const notes = notesOn(log.audited({ ...by, action: 'notes.note.changed' }))
    const set = expr`SET ${notes.attr('text')} = ${'new'}`
    expect(await notes.update({ PK: 'a' }, set)).toEqual({ PK: 'a', text: 'new' })
    expect(await notes.delete({ PK: 'a' })).toEqual({ PK: 'a', text: 'new' })
    expect(await listed()).toHaveLength(2)
  })

  test('is one chain without a gap after twenty concurrent changes', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, number) => {
        const own = createAuditLog({ db, clock })
        const audited = own.audited({ ...by, action: 'notes.note.created', target: `${number}` })
        return notesOn(audited).put({ PK: `${number}`, text: 'x' })
      }),
    )
    const entries = await listed()
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => 20 - at))
    expect(new Set(entries.map(({ target }) => target)).size).toBe(20)
    expect(await log.verify()).toMatchObject({ entries: 20, findings: [] })
  })

  test('says exactly what was before each of twenty concurrent changes', async () => {
    const item = (text: string) => ({
      table: notesTable,
      key: { PK: 'a' },
      attributes: ['text'],
      describe: (before: Item | undefined) => ({
        before: before && { text: before['text'] },
        after: { text },
      }),
    })
    await Promise.all(
      Array.from({ length: 20 }, (_, number) => {
        const text = `text ${number}`
        const change = { ...by, action: 'notes.note.changed', item: item(text) }
        return notesOn(createAuditLog({ db, clock }).audited(change)).put({ PK: 'a', text })
      }),
    )
    const entries = (await listed()).toReversed()
    expect(entries[0]?.before).toBeUndefined()
    expect(entries.slice(1).map(({ before }) => before)).toEqual(
      entries.slice(0, -1).map(({ after }) => after),
    )
    expect(await log.verify()).toMatchObject({ entries: 20, findings: [] })
  })

  test('ends a page after a number of reads, and the next one goes on', async () => {
    await log.record({ ...by, action: 'notes.note.changed', target: 'needle' })
    for (let at = 0; at < 250; at++) {
      await log.record({ ...by, action: 'notes.note.changed', target: 'hay' })
    }
    const first = await log.list({ target: 'needle', limit: 5, maxReads: 1 })
    expect(first.items).toEqual([])
    const second = await log.list({ target: 'needle', limit: 5, maxReads: 1, after: first.next })
    expect(second.items).toMatchObject([{ target: 'needle' }])
  })

  test('repeats a write if others changed the item and changed it back meanwhile', async () => {
    await notesOn(db).put({ PK: 'a', text: 'first' })
    let isFirst = true
    const changing: Db = {
      ...db,
      async transactWriteItems(input) {
        if (!isFirst) return db.transactWriteItems(input)
        isFirst = false
        await notesOn(db).put({ PK: 'a', text: 'between' })
        try {
          return await db.transactWriteItems(input)
        } finally {
          await notesOn(db).put({ PK: 'a', text: 'first' })
        }
      },
    }
    const item = {
      table: notesTable,
      key: { PK: 'a' },
      attributes: ['text'],
      describe: (before: Item | undefined) => ({ before }),
    }
    const audited = createAuditLog({ db: changing, clock }).audited({
      ...by,
      action: 'notes.note.changed',
      item,
    })
    await notesOn(audited).put({ PK: 'a', text: 'second' })
    expect(isFirst).toBe(false)
    expect(await notesOn(db).get({ PK: 'a' })).toEqual({ PK: 'a', text: 'second' })
    expect((await listed()).map(({ before }) => before)).toEqual([{ PK: 'a', text: 'first' }])
  })

  test('reports a refusal as without it also where it says what was before', async () => {
    const item = {
      table: notesTable,
      key: { PK: 'a' },
      attributes: ['text'],
      describe: (before: Item | undefined) => ({ before }),
    }
    const notes = notesOn(log.audited({ ...by, action: 'notes.note.changed', item }))
    await notes.put({ PK: 'a', text: 'first' })
    const isAbsent = expr`attribute_not_exists(${notes.attr('PK')})`
    const refused = notes.put({ PK: 'a', text: 'second' }, isAbsent)
    await expect(refused).rejects.toThrow(ConditionFailed)
    await expect(notes.put({ PK: 'b', text: 'x' })).rejects.toThrow(TypeError)
    await notes.update({ PK: 'a' }, expr`SET ${notes.attr('text')} = ${'third'}`)
    await notes.delete({ PK: 'a' })
    expect((await listed()).map(({ before }) => before)).toEqual([
      { PK: 'a', text: 'third' },
      { PK: 'a', text: 'first' },
      undefined,
    ])
  })

  test('says that a change outside the store started, and how it ended', async () => {
    const change = { ...by, action: 'kms.key.rotated' }
    expect(await log.around(change, async () => 'result')).toBe('result')
    const failing = log.around(change, async () => {
      throw new Error('unreachable')
    })
    await expect(failing).rejects.toThrow('unreachable')
    const entries = await listed()
    expect(entries.map(({ outcome }) => outcome)).toEqual(['failed', 'started', 'done', 'started'])
    expect(entries[0]?.operation).toBe(entries[1]?.operation)
    expect(entries[1]?.operation).not.toBe(entries[2]?.operation)
  })

  test('hides what looks like a secret and omits what is too long', async () => {
    const put = async (after: object) =>
      notesOn(log.audited({ ...by, action: 'notes.note.changed', after })).put({
        PK: 'a',
        text: 'x',
      })
    await put({ apiKey: 'fh_live_0123456789abcdef', role: 'viewer' })
    await put({ text: 'x'.repeat(5_000) })
    const [long, secret] = await listed()
    expect(secret?.after).toEqual({ apiKey: '[redacted]', role: 'viewer' })
    expect(long?.after).toEqual({ omittedBytes: 5_011 })
  })

  test('is listed by actor, action, target and time, in pages across months', async () => {
    const add = (actor: string, target: string) =>
      notesOn(log.audited({ actor, action: `notes.${target}`, target })).put({
        PK: target,
        text: 'x',
      })
    for (const day of [1, 20, 40, 60]) {
      clock.advance({ ms: start + day * 86_400_000 - clock.now() })
      await add('operator:ada', `ada-${day}`)
      await add('local:bob', `bob-${day}`)
    }
    const targets = (filter: object) => listed(filter).then((all) => all.map((each) => each.target))
    expect(await targets({ actor: 'local:bob' })).toEqual(['bob-60', 'bob-40', 'bob-20', 'bob-1'])
    expect(await targets({ action: 'notes.ada-40' })).toEqual(['ada-40'])
    expect(await targets({ target: 'bob-1' })).toEqual(['bob-1'])
    const february = { from: '2100-02-01T00:00:00Z', to: '2100-03-01T00:00:00Z' }
    expect(await targets(february)).toEqual(['bob-40', 'ada-40'])
    const paged: (string | undefined)[] = []
    let after
    do {
      const page = await log.list({ limit: 3, after, actor: undefined })
      paged.push(...page.items.map(({ target }) => target))
      after = page.next
    } while (after)
    expect(paged).toEqual(await targets({}))
    expect(paged).toHaveLength(8)
  })

  test('is kept for one year', async () => {
    await notesOn(log.audited({ ...by, action: 'notes.note.created' })).put({ PK: 'a', text: 'x' })
    const { Items = [] } = await db.scan({ TableName: operationsTable.name })
    const end = start / 1000 + 365 * 86_400
    expect(Items.map(({ expiresAt }) => expiresAt)).toEqual([end, end])
    clock.advance({ days: 365, seconds: -1 })
    expect(await listed()).toHaveLength(1)
    clock.advance({ seconds: 1 })
    expect(await listed()).toEqual([])
  })

  describe('shows in its verification', () => {
    const key = (seq: number) => ({ PK: 'AUDIT#2100-01', SK: String(seq).padStart(12, '0') })
    const TableName = operationsTable.name
    const findings = async () =>
      (await log.verify()).findings.map(({ seq, message }) => `${seq}: ${message}`)

    beforeEach(async () => {
      for (const target of ['a', 'b', 'c']) {
        const audited = log.audited({ ...by, action: 'notes.note.created', target })
        await notesOn(audited).put({ PK: target, text: 'x' })
      }
    })

    test('nothing while it is intact', async () => {
      expect(await log.verify()).toMatchObject({
        entries: 3,
        months: [{ month: '2100-01', entries: 3 }],
        findings: [],
      })
    })

    test('the same in pages of any size, also across months', async () => {
      clock.advance({ days: 40 })
      for (const target of ['d', 'e'])
        await log.record({ ...by, action: 'notes.note.kept', target })
      await db.updateItem({
        TableName,
        Key: key(2),
        UpdateExpression: 'SET actor = :a',
        ExpressionAttributeValues: { ':a': 'operator:bob' },
      })
      const whole = await log.verify()
      expect(whole).toMatchObject({
        entries: 5,
        months: [
          { month: '2100-01', entries: 3 },
          { month: '2100-02', entries: 2 },
        ],
        findings: [{ month: '2100-01', seq: 2, message: 'The entry was changed' }],
      })
      for (const limit of [1, 2, 3, 4, 5]) {
        const checks: AuditMonthCheck[] = []
        let after
        do {
          const page = await log.verifyPage({ limit, after })
          expect(page.items.reduce((sum, { entries }) => sum + entries, 0) <= limit).toBe(true)
          checks.push(...page.items)
          after = page.next
        } while (after)
        expect(toAuditVerification(checks)).toEqual(whole)
      }
    })

    test('nothing while others write entries', async () => {
      const writes = Array.from({ length: 20 }, (_, number) =>
        log.record({ ...by, action: 'notes.note.kept', target: `${number}` }),
      )
      const found = await Promise.all(Array.from({ length: 20 }, () => findings()))
      await Promise.all(writes)
      expect(found.flat()).toEqual([])
      expect(await log.verify()).toMatchObject({ entries: 23, findings: [] })
    })

    test('an entry that was changed', async () => {
      await db.updateItem({
        TableName,
        Key: key(2),
        UpdateExpression: 'SET actor = :a',
        ExpressionAttributeValues: { ':a': 'operator:bob' },
      })
      expect(await findings()).toEqual(['2: The entry was changed'])
    })

    test('an entry that was removed', async () => {
      await db.deleteItem({ TableName, Key: key(2) })
      expect(await findings()).toEqual(['3: Entries before this one are missing'])
    })

    test('a beginning that was removed, unless it is a year old', async () => {
      await db.deleteItem({ TableName, Key: key(1) })
      expect(await findings()).toEqual(['2: Entries before this one are missing'])
      clock.advance({ days: 365 })
      expect(await findings()).toEqual([])
    })

    test('an end that was removed', async () => {
      await db.deleteItem({ TableName, Key: key(3) })
      expect(await findings()).toEqual(['3: The last entries or the head are missing'])
    })

    test('a head that was removed; the chain continues after its last entry', async () => {
      await db.deleteItem({ TableName, Key: { PK: 'AUDIT#2100-01', SK: 'HEAD' } })
      expect(await findings()).toEqual(['3: The last entries or the head are missing'])
      const audited = log.audited({ ...by, action: 'notes.note.created' })
      await notesOn(audited).put({ PK: 'd', text: 'x' })
      expect(await log.verify()).toMatchObject({ entries: 4, findings: [] })
    })
  })
})
