import { afterAll, describe, expect, test } from 'vitest'
import { openDynamoDbLocal } from '../conformance/local-target.ts'
import { runSuites } from '../conformance/suites.ts'

const target = await openDynamoDbLocal()

describe('DynamoDB Local', () => {
  test('is here, because Java is', ({ skip }) => {
    skip(!target, 'Java was not found, so the suites run on the engine only')
    expect(target?.endpoint).toBeDefined()
  })
  if (target) runSuites(target)
  afterAll(() => target?.close())
})
