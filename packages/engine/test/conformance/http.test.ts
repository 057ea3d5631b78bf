import { afterAll, describe, expect, test } from 'vitest'
import { openHttp } from '../../conformance/engine-targets.ts'
import { runSuites } from '../../conformance/suites.ts'

const SLOW = process.env['SLOW'] === '1'
const target = await openHttp()

describe('the engine over HTTP', () => {
  test('runs the same suites as the in-process face', ({ skip }) => {
    skip(!SLOW, 'The suites run on the engine in process, and on its other faces by SLOW=1')
    expect(target).toBeDefined()
  })
  if (SLOW) runSuites(target)
  afterAll(() => target.close())
})
