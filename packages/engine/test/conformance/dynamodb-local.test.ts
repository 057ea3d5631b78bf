import { afterAll, describe, expect, test } from 'vitest'
import { openDynamoDbLocal } from '../../conformance/local-target.ts'
import { runSuites } from '../../conformance/suites.ts'

const SLOW = process.env['SLOW'] === '1'
const target = SLOW ? await openDynamoDbLocal() : undefined

describe('DynamoDB Local', () => {
  test('is here, because Java is', ({ skip }) => {
    skip(!SLOW, 'The suites are compared with DynamoDB Local by SLOW=1')
    skip(!target, 'Java was not found, so the suites run on the engine only')
    expect(target?.endpoint).toBeDefined()
  })
  if (target) runSuites(target)
  afterAll(() => target?.close())
})
