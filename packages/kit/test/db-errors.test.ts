import { describe, expect, test } from 'vitest'
import {
  conditionHeld,
  ConditionFailed,
  isResponseLost,
  isThrottled,
  isUnavailable,
  StoreBusy,
  TransactionFailed,
} from '../src/db-errors.ts'

const named = (name: string, more: object = {}) => Object.assign(new Error(name), { name }, more)
const cancelled = (...codes: string[]) =>
  named('TransactionCanceledException', {
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

const failed = (...codes: string[]) =>
  new TransactionFailed(codes.map((code) => ({ code, item: undefined })))

describe('an error of the store', () => {
  test.for([
    // [error, response lost, throttled, unavailable]
    [named('TimeoutError'), true, false, true],
    [named('NetworkingError'), true, false, true],
    [named('InternalServerError'), true, false, true],
    [named('ServiceUnavailable'), true, false, true],
    [named('TransactionInProgressException'), true, false, true],
    [named('ThrottlingException'), false, true, true],
    [named('ProvisionedThroughputExceededException'), false, true, true],
    [named('RequestLimitExceeded'), false, true, true],
    [named('TransactionConflictException'), false, true, true],
    [cancelled('None', 'TransactionConflict'), false, true, true],
    [cancelled('ThrottlingError', 'ProvisionedThroughputExceeded'), false, true, true],
    [failed('None', 'TransactionConflict'), false, true, true],
    [failed('TransactionConflict', 'ConditionalCheckFailed'), false, false, false],
    [cancelled('TransactionConflict', 'ConditionalCheckFailed'), false, false, false],
    [named('KMSInternalException'), false, false, true],
    [named('DisabledException'), false, false, true],
    [named('Error', { code: 'ECONNREFUSED' }), false, false, true],
    [named('AccessDeniedException'), false, false, true],
    [named('CredentialsProviderError'), false, false, true],
    [named('KmsUnavailable'), false, false, true],
    [named('KmsKeyUnusable'), false, false, true],
    [named('KmsAccessDenied'), false, false, true],
    [named('Error', { code: 'EAI_AGAIN' }), false, false, true],
    [new StoreBusy('busy'), false, false, true],
    [named('ValidationException'), false, false, false],
    [named('TypeError'), false, false, false],
    ['no error', false, false, false],
  ] as const)('%s is classified', ([error, lost, throttled, unavailable]) => {
    expect([isResponseLost(error), isThrottled(error), isUnavailable(error)]).toStrictEqual([
      lost,
      throttled,
      unavailable,
    ])
  })
})

describe('a conditional write', () => {
  const refused = (code: string) => new TransactionFailed([{ code, item: undefined }])

  test('reports true if it was written', async () => {
    expect(await conditionHeld(Promise.resolve())).toBe(true)
  })

  test('reports false if the condition failed, alone or in a transaction', async () => {
    expect(await conditionHeld(Promise.reject(new ConditionFailed(undefined)))).toBe(false)
    expect(await conditionHeld(Promise.reject(refused('ConditionalCheckFailed')))).toBe(false)
  })

  test('throws every other failure', async () => {
    await expect(conditionHeld(Promise.reject(refused('TransactionConflict')))).rejects.toThrow()
    await expect(conditionHeld(Promise.reject(new Error('defect')))).rejects.toThrow('defect')
  })
})
