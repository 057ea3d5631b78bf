import { afterAll, describe } from 'vitest'
import { openDropIn } from '../conformance/engine-targets.ts'
import { runSuites } from '../conformance/suites.ts'

const target = await openDropIn()

describe('the engine as a drop-in for the AWS SDK', () => {
  runSuites(target)
  afterAll(() => target.close())
})
