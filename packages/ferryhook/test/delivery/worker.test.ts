import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testWorlds } from '../workbench.ts'
import { openWorkerBench, type WorkerBench } from './worker-bench.ts'

describe.each(testWorlds())('the worker on $name', (world) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(world)
  })
  afterAll(() => bench.close())

  test('an event is delivered, byte by byte, and everything about it is on record', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/first')
    const body = Buffer.from('{"type":"x",  "n": 1.0}\n')
    const event = await bench.receive(source, { body })
    expect(await bench.status(event)).toBe('received')
    await bench.worker.runOnce()
    const [received, ...others] = bench.sink.received('/first')
    expect(others).toEqual([])
    expect(received?.body).toEqual(body)
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toMatchObject([
      { attemptNumber: 1, statusCode: 200, responseBody: 'ok' },
    ])
  })
})
