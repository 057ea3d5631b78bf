import { testStores } from '@strongroom/kit/testing/stores'
import { createMetrics } from '@strongroom/kit/metrics'
import { afterEach, describe, expect, test } from 'vitest'
import { required } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])

describe('a destination inside the network', () => {
  let bench: WorkerBench
  afterEach(() => bench.close())

  async function deliverTo(url: (port: number) => string, answers: Record<string, string[]> = {}) {
    const asked: string[] = []
    bench = await openWorkerBench(
      { store },
      {
        random: () => 0.5,
        metrics: createMetrics(),
        fetch: {
          allow: [],
          resolve: async (hostname) => {
            asked.push(hostname)
            return required(answers[hostname])
          },
        },
      },
    )
    const source = await bench.newSource()
    const connection = await bench.connect(source, url(bench.sink.port))
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    return { event, connection, asked }
  }

  test.each([
    ['a literal address', (port: number) => `http://127.0.0.1:${port}/`],
    ['a number', (port: number) => `http://2130706433:${port}/`],
    ['a mapped address', (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['a cloud metadata address', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a local name', (port: number) => `http://localhost:${port}/`],
  ])('given as %s is not reached, and is not retried', async (_, url) => {
    const { event, connection } = await deliverTo(url)
    expect(bench.sink.received()).toEqual([])
    expect(await bench.status(event)).toBe('failed')
    expect(await bench.delivery(event, connection)).toMatchObject({
      reason: 'blocked_address',
      attemptsMade: 1,
    })
    const [attempt] = await bench.attempts(event, connection)
    expect(attempt).toMatchObject({ statusCode: 0, error: expect.stringContaining('not allowed') })
    expect(attempt?.error).not.toMatch(/127|169|::/)
    expect(bench.alerts).toMatchObject([{ kind: 'delivery.failed', reason: 'blocked_address' }])
    await bench.timers.pass({ ms: 86_400_000 })
    await bench.worker.runOnce()
    expect(await bench.attempts(event, connection)).toHaveLength(1)
  })

  test('behind a public name is not reached, even next to a public address', async () => {
    const url = (port: number) => `http://rebind.example.com:${port}/`
    const { event, connection } = await deliverTo(url, {
      'rebind.example.com': ['93.184.215.14', '127.0.0.1'],
    })
    expect(bench.sink.received()).toEqual([])
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'blocked_address' })
  })

  test('behind a name that resolves differently each time is not reached, because it is resolved once per connection', async () => {
    const answers = { 'rebind.example.com': ['127.0.0.1'] }
    const { event, asked } = await deliverTo(
      (port) => `http://rebind.example.com:${port}/`,
      answers,
    )
    expect(asked).toEqual(['rebind.example.com'])
    expect(bench.sink.received()).toEqual([])
    expect(await bench.status(event)).toBe('failed')
  })

  test('is reached if the operator allows its network', async () => {
    bench = await openWorkerBench(
      { store },
      { fetch: { allow: ['127.0.0.0/8'], resolve: async () => ['127.0.0.1'] } },
    )
    const source = await bench.newSource()
    await bench.connect(source, `http://next-door.example.com:${bench.sink.port}/`)
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
  })

  test('with a name that cannot be resolved is a DNS failure, which is retried', async () => {
    const { event, connection } = await deliverTo(() => 'http://nowhere.example.com/')
    expect(await bench.status(event)).toBe('retrying')
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'dns' })
  })
})
