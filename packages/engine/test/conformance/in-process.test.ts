import { afterAll, describe } from 'vitest'
import { openDb } from '../../conformance/engine-targets.ts'
import { runSuites } from '../../conformance/suites.ts'

const target = await openDb()

describe('the engine in process', () => {
  runSuites(target)
  afterAll(() => target.close())
})
