import { describe, expect, test } from 'vitest'
import { ConditionFailed, StoreBusy, TransactionFailed } from '../src/db-errors.ts'
import { CONFLICT, retryOnConflict } from '../src/retry-on-conflict.ts'

const refused = (code: string) => new TransactionFailed([{ code, item: undefined }])

describe('an attempt that conflicts with another writer', () => {
  test('is repeated with its number until it succeeds', async () => {
    const numbers: number[] = []
    const result = await retryOnConflict(async (number) => {
      numbers.push(number)
      if (number === 1) return CONFLICT
      if (number === 2) throw new ConditionFailed(undefined)
      if (number === 3) throw refused('ConditionalCheckFailed')
      return 'written'
    })
    expect([result, numbers]).toStrictEqual(['written', [1, 2, 3, 4]])
  })

  test('ends in StoreBusy with the last conflict as its cause', async () => {
    const conflict = new ConditionFailed(undefined)
    let attempts = 0
    const failure = await retryOnConflict(
      async () => {
        attempts += 1
        throw conflict
      },
      { maxAttempts: 7 },
    ).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreBusy)
    expect(failure).toMatchObject({ cause: conflict })
    expect(attempts).toBe(7)
  })

  test('ends after 200 attempts by default', async () => {
    let attempts = 0
    await expect(
      retryOnConflict(async () => {
        attempts += 1
        return CONFLICT
      }),
    ).rejects.toThrow(StoreBusy)
    expect(attempts).toBe(200)
  })

  test('ends in the error that the caller chose', async () => {
    const busy = new Error('changed_meanwhile')
    const attempt = retryOnConflict(async () => CONFLICT, { maxAttempts: 2, exhausted: () => busy })
    await expect(attempt).rejects.toBe(busy)
  })
})

test.for([
  ['a transaction that was cancelled for another reason', refused('TransactionConflict')],
  ['any other error', new Error('defect')],
] as const)('%s passes through without a second attempt', async ([, error]) => {
  let attempts = 0
  const failing = retryOnConflict(async () => {
    attempts += 1
    throw error
  })
  await expect(failing).rejects.toBe(error)
  expect(attempts).toBe(1)
})
