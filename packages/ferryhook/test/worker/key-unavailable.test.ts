import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { required } from '../support/test-stores.ts'
import { sealedSecrets, openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

describe.each(serviceStores())('while the key store is unavailable, on $name', (store) => {
  const lines: string[] = []
  const metrics = createMetrics()
  /** When decryption was attempted while the key store was unavailable. */
  let asked: number[] = []
  let isAway = true
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(
      { store },
      {
        metrics,
        log: createLog({ sink: (line) => void lines.push(line) }),
        secretBox: {
          ...secretBox,
          async open(sealed, place) {
            if (!isAway) return secretBox.open(sealed, place)
            asked.push(bench.clock.now())
            throw new Error('KMS cannot be reached')
          },
        },
      },
    )
  })
  afterAll(() => bench.close())

  test('no attempt is counted and the operator is notified once', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/keyless', { retryConfig: '[0,1]' })
    const events = [await bench.receive(source), await bench.receive(source)]
    await bench.worker.runOnce()
    await bench.live(300)
    for (const event of events) {
      expect(await bench.delivery(event, connection)).toMatchObject({
        state: 'runnable',
        reason: 'keys',
        attemptsMade: 0,
      })
      expect(await bench.attempts(event, connection)).toEqual([])
    }
    expect(bench.sink.received('/keyless')).toEqual([])
    const { connectionId, sourceId } = connection
    const stored = required(await bench.stores.connections.get(connectionId, sourceId))
    expect(stored).toMatchObject({ status: 'active', failureCount: 0 })
    expect(stored).not.toHaveProperty('failingSince')
    expect(bench.alerts).toEqual([])
    expect(lines).toEqual([expect.stringContaining('keys unavailable')])
    expect(lines[0]).not.toMatch(/usr_|src_|conn_|evt_|whsec_/)
    const text = await metrics.text()
    expect(text).toMatch(/strongroom_ferryhook_parked_total\{reason="keys"\} \d/)
    expect(text).not.toContain('reason="circuit"')
    expect(text).not.toContain('strongroom_ferryhook_attempts_total{')

    isAway = false
    await bench.live(70)
    for (const event of events) {
      expect(await bench.status(event)).toBe('delivered')
      expect(await bench.attempts(event, connection)).toMatchObject([{ attemptNumber: 1 }])
    }
  })

  test('one delivery probes the keys soon, and then less often', async () => {
    isAway = true
    asked = []
    const source = await bench.newSource()
    await bench.connect(source, '/patient')
    const beganAt = bench.clock.now()
    for (let n = 0; n < 5; n++) await bench.receive(source)
    await bench.worker.runOnce()
    await bench.live(300)
    const [first = 0, ...later] = [...new Set(asked)].map((at) => (at - beganAt) / 1000)
    expect(first).toBe(0)
    expect(later[0]).toBeLessThanOrEqual(10)
    const pauses = later.map((at, n) => at - (later[n - 1] ?? first))
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    expect(pauses.at(-1)).toBeGreaterThan(30)
    expect(pauses.at(-1)).toBeLessThanOrEqual(65)
    expect(asked.filter((at) => at > beganAt)).toHaveLength(later.length)
  })

  test('a connection whose headers cannot be decrypted is not attempted either', async () => {
    isAway = true
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/headers')
    const { connectionId, sourceId } = connection
    const customHeaders = await sealedSecrets.sealCustomHeaders(connection, { 'x-a': 'b' })
    await bench.stores.connections.update(connectionId, { customHeaders }, { sourceId })
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'keys' })
    isAway = false
    await bench.live(70)
    expect(bench.sink.received('/headers')).toMatchObject([{ headers: { 'x-a': 'b' } }])
  })
})
