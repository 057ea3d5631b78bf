import { afterAll, describe, test } from 'vitest'
import { runSuites } from '../conformance/suites.ts'
import { openDynamoDbLocal } from '../conformance/local-target.ts'

const target = await openDynamoDbLocal()

describe('DynamoDB Local', () => {
  if (!target) {
    test.skip('is not tested, because Java was not found', () => {})
    return
  }
  runSuites(target)
  afterAll(() => target.close())
})
