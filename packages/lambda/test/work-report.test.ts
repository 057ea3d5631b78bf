import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createWorkerMetrics } from '@strongroom/ferryhook/worker/metrics'
import { describe, expect, test } from 'vitest'
import { createWorkReport } from '../src/work-report.ts'

function setUp() {
  const lines: Record<string, unknown>[] = []
  const log = createLog({ sink: (line) => void lines.push(JSON.parse(line)), pretty: false })
  const metrics = createMetrics()
  return {
    lines,
    deliveries: createWorkerMetrics(metrics, () => 0),
    report: createWorkReport({ metrics, log }),
  }
}

describe('the report of the worker', () => {
  test('has each failed delivery once, and overdue tasks where they are known', async () => {
    const { lines, deliveries, report } = setUp()
    deliveries.ended('failed', 2)
    deliveries.ended('delivered', 5)
    await report(3)
    deliveries.ended('failed')
    await report()
    await report(0)
    expect(lines.map(({ message, failed, overdue }) => ({ message, failed, overdue }))).toEqual([
      { message: 'work report', failed: 2, overdue: 3 },
      { message: 'work report', failed: 1, overdue: undefined },
      { message: 'work report', failed: 0, overdue: 0 },
    ])
  })

  test('is not written for each batch of the stream', async () => {
    const { lines, deliveries, report } = setUp()
    deliveries.ended('delivered')
    await report()
    expect(lines).toEqual([])
  })
})
