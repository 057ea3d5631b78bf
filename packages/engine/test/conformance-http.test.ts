import { afterAll, describe } from 'vitest'
import { openHttp } from '../conformance/engine-targets.ts'
import { runSuites } from '../conformance/suites.ts'

const target = await openHttp()

describe('the engine over HTTP', () => {
  runSuites(target)
  afterAll(() => target.close())
})
