import { silentLog } from '@strongroom/kit/log'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReplayRunner } from '../../src/replays/runner.ts'
import { openWorkerBench, SECRET, type WorkerBench } from '../support/test-worker.ts'
import { required } from '../support/test-stores.ts'

describe.each(serviceStores())('a replayed delivery on $name', (store) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store })
  })
  afterAll(() => bench.close())

  const onlyPaid = JSON.stringify([{ path: '$.type', operator: 'equals', value: 'paid' }])
  const renamed = JSON.stringify({
    type: 'field_map',
    rules: [{ from: '$.amount', to: 'total' }],
  })
  const bodyOf = (event: object) => Buffer.from(JSON.stringify(event))

  async function replayAll({ sourceId, userId }: { sourceId: string; userId: string }) {
    const { stores, clock, timers, worker } = bench
    const connections = await stores.connections.listBySource(sourceId)
    const replay = await stores.replays.create({
      sourceId,
      userId,
      connectionIds: connections.map(({ connectionId }) => connectionId),
      from: clock.now() - 60_000,
      to: clock.now(),
      perSecond: 100,
      createdBy: 'test',
    })
    const onReplayed = () => {}
    await createReplayRunner({
      stores,
      clock,
      startTimer: timers.start,
      log: silentLog,
      onReplayed,
    }).runOnce()
    await worker.runOnce()
    return replay
  }

  test('uses the current filter and transform, is signed again, and is marked as a replay', async () => {
    const source = await bench.newSource()
    const paid = await bench.receive(source, { body: bodyOf({ type: 'paid', amount: 5 }) })
    const other = await bench.receive(source, { body: bodyOf({ type: 'opened', amount: 7 }) })
    await bench.worker.runOnce()
    expect(await bench.status(paid)).toBe('unrouted')
    // The connection is newer than the events, so the replay is their first run.
    await bench.connect(source, '/replayed', { filters: onlyPaid, transform: renamed })
    bench.clock.advance({ seconds: 30 })
    const { replayId } = await replayAll(source)
    expect([await bench.status(paid), await bench.status(other)]).toEqual(['delivered', 'filtered'])
    const [got, ...more] = bench.sink.received('/replayed')
    expect(more).toEqual([])
    const { headers, body } = required(got)
    expect(JSON.parse(body.toString())).toEqual({ total: 5 })
    expect(headers).toMatchObject({
      'x-ferryhook-replay': replayId,
      'x-ferryhook-event-id': paid.eventId,
      'webhook-timestamp': String(Math.floor(bench.clock.now() / 1000)),
    })
    // The test clock is far ahead of the library's.
    const signed = { ...headers } as Record<string, string>
    const signature = new Webhook(SECRET).sign(
      paid.eventId,
      new Date(bench.clock.now()),
      body.toString(),
    )
    expect(signed['webhook-signature']).toBe(signature)
  })

  test('is sent once, and the history has both runs', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/twice')
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    await replayAll(source)
    const [first, second, ...more] = bench.sink.received('/twice')
    expect(more).toEqual([])
    expect(first?.headers['x-ferryhook-replay']).toBeUndefined()
    expect(second?.headers['x-ferryhook-replay']).toMatch(/^rpl_/)
    expect(required(second).body.equals(required(first).body)).toBe(true)
    const attempts = await bench.attempts(event, connection)
    expect(attempts.map(({ run }) => run)).toEqual([1, 2])
  })
})
