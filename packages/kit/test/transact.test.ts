import { describe, expect, test } from 'vitest'
import type { Db, TransactWriteItem, TransactWriteItemsInput } from '../src/db.ts'
import { TransactionFailed } from '../src/db-errors.ts'
import { retryingDb } from '../src/retrying-db.ts'
import { transactParts } from '../src/transact.ts'

const put = (id: string): TransactWriteItem => ({ Put: { TableName: 'things', Item: { id } } })

const named = (name: string, more: object = {}) => Object.assign(new Error(name), { name }, more)

const cancelled = (...CancellationReasons: object[]) =>
  named('TransactionCanceledException', { CancellationReasons })

function fakeDb(failures: Error[]) {
  const calls: TransactWriteItemsInput[] = []
  const db = {
    async transactWriteItems(input: TransactWriteItemsInput) {
      calls.push(input)
      const failure = failures.shift()
      if (failure) throw failure
      return {}
    },
  } as Partial<Db> as Db
  return { db, calls }
}

describe('a transaction with named parts', () => {
  test('is sent once, with its own token and without undefined parts', async () => {
    const { db, calls } = fakeDb([])
    const parts: Partial<Record<'first' | 'second' | 'third', TransactWriteItem>> = {
      first: put('a'),
      third: put('c'),
    }
    expect(await transactParts(db, parts)).toStrictEqual({ kind: 'done' })
    await transactParts(db, parts)
    expect(calls.map(({ TransactItems }) => TransactItems)).toStrictEqual([
      [put('a'), put('c')],
      [put('a'), put('c')],
    ])
    expect(new Set(calls.map(({ ClientRequestToken }) => ClientRequestToken)).size).toBe(2)
  })

  test('names the parts whose conditions failed, each with its stored item', async () => {
    const { db } = fakeDb([
      cancelled(
        { Code: 'ConditionalCheckFailed', Item: { id: 'a' } },
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed' },
      ),
    ])
    const outcome = await transactParts(db, { first: put('a'), second: put('b'), third: put('c') })
    expect(outcome).toStrictEqual({
      kind: 'refused',
      by: new Map<string, object | undefined>([
        ['first', { id: 'a' }],
        ['third', undefined],
      ]),
    })
  })

  test('throws any other error', async () => {
    const conflict = fakeDb([cancelled({ Code: 'TransactionConflict' })])
    await expect(transactParts(conflict.db, { only: put('a') })).rejects.toThrow(TransactionFailed)
    const lost = fakeDb([named('TimeoutError')])
    await expect(transactParts(lost.db, { only: put('a') })).rejects.toThrow('TimeoutError')
    expect(lost.calls).toHaveLength(1)
  })
})

describe('a transaction with named parts whose response is lost', () => {
  const pause = async () => {}

  test('every time is sent three times in all, with one token', async () => {
    const { db, calls } = fakeDb(Array.from({ length: 50 }, () => named('TimeoutError')))
    const outcome = transactParts(retryingDb(db, { pause }), { only: put('a') })
    await expect(outcome).rejects.toThrow('TimeoutError')
    expect(calls).toHaveLength(3)
    expect(new Set(calls.map(({ ClientRequestToken }) => ClientRequestToken)).size).toBe(1)
  })

  test.for([
    'TimeoutError',
    'NetworkingError',
    'InternalServerError',
    'TransactionInProgressException',
  ])('by %s is repeated until the store responds', async (name) => {
    const { db, calls } = fakeDb([named(name), named(name)])
    const outcome = await transactParts(retryingDb(db, { pause }), { only: put('a') })
    expect(outcome).toStrictEqual({ kind: 'done' })
    expect(calls).toHaveLength(3)
  })
})
