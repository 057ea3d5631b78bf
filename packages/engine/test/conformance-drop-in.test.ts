import { afterAll, describe } from 'vitest'
import { openDropIn } from '../conformance/engine-targets.ts'
import { runSuites } from '../conformance/suites.ts'

const target = await openDropIn()

describe(target.name, () => {
  runSuites(target)
  afterAll(() => target.close())
})
