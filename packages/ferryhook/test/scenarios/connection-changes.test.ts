import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/connections/item.ts'
import { isPending } from '../../src/deliveries/state.ts'
import type { Event } from '../../src/events/item.ts'
import { newSecretList } from '../../src/signing/secret-list.ts'
import { allDue, required, testWorlds } from '../support/test-stores.ts'
import { sealedSecrets, openWorkerBench, SECRET, type WorkerBench } from '../support/test-worker.ts'

const isSlow = process.env['SLOW'] !== undefined
const ROUNDS = 20

/** The same numbers for the same seed. */
function seededRandom(seed: number): () => number {
  let state = seed * 7_919
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

// The unreliable embedded engine only, because the changes are the same on each store.
describe.each(testWorlds().slice(-1))('a connection that changes constantly, on $name', (world) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(world, { workerConfig: { cacheMs: 1_000 } })
  })
  afterAll(() => bench.close())

  /** Two workers, one second at a time, and an owner who keeps changing the connection. */
  async function changing(seed: number, path: string) {
    const random = seededRandom(seed)
    const workers = [bench.worker, bench.anotherWorker()]
    const source = await bench.newSource()
    const connection = await bench.connect(source, path, { retryConfig: '[0,1,2,3,5,8,13,21]' })
    bench.sink.behave(path, (response) => void response.writeHead(random() < 0.3 ? 500 : 200).end())
    const { connectionId, sourceId } = connection
    const change = (updates: Partial<Pick<Connection, 'status' | 'signingSecret'>>) =>
      bench.stores.connections.update(connectionId, updates, { sourceId })
    const events: Event[] = []
    let pausedFor = 0
    const second = async () => {
      await bench.timers.until(Promise.all(workers.map((worker) => worker.runOnce())))
      await bench.timers.pass({ ms: 1_000 })
    }
    for (let round = 0; round < ROUNDS; round++) {
      const before = bench.sink.received(path).length
      const what = Math.floor(random() * 4)
      const working = second()
      if (what === 0) await change({ status: 'paused' })
      if (what === 1) await change({ status: 'active' })
      if (what === 2) {
        const secrets = newSecretList(SECRET, bench.clock.now())
        const signingSecret = await sealedSecrets.sealConnectionSecrets(connection, secrets)
        await change({ signingSecret })
      }
      events.push(await bench.receive(source))
      await working
      pausedFor = what === 0 || (pausedFor > 0 && what !== 1) ? pausedFor + 1 : 0
      // Connections are cached for a second.
      const most = pausedFor > 3 ? before : Infinity
      expect(bench.sink.received(path).length).toBeLessThanOrEqual(most)
    }
    return { connection, events, second, change }
  }

  /** Lets time pass until every delivery has finished. */
  async function end({ events, connection, second }: Awaited<ReturnType<typeof changing>>) {
    const isEnded = async (event: Event) =>
      !isPending(required(await bench.delivery(event, connection)).state)
    for (let left = 90; left > 0; left--) {
      await second()
      if ((await Promise.all(events.map(isEnded))).every(Boolean)) break
    }
    expect(await bench.stores.wakeUps.listParked(connection.connectionId)).toEqual([])
    const due = (await allDue(bench.stores)).filter(({ kind }) => kind === 'deliver')
    expect(due).toEqual([])
  }

  test.each(isSlow ? [1, 2, 3, 4, 5] : [1])(
    'loses no event and records every attempt (seed %i)',
    async (seed) => {
      const path = `/changing-${seed}`
      const changed = await changing(seed, path)
      const { connection, events, change } = changed
      await change({ status: 'active' })
      bench.sink.behave(path, (response) => void response.end())
      await end(changed)
      for (const event of events) {
        expect(await bench.delivery(event, connection)).toMatchObject({ state: 'delivered' })
        const attempts = await bench.attempts(event, connection)
        const came = bench.sink
          .received(path)
          .filter((each) => each.headers['webhook-id'] === event.eventId)
        expect(attempts.map(({ attemptNumber }) => attemptNumber)).toEqual(
          came.map((_, index) => index + 1),
        )
        expect(attempts.at(-1)).toMatchObject({ statusCode: 200 })
      }
    },
  )

  test('ends every delivery with a reason when it is deleted', async () => {
    const changed = await changing(4, '/deleted')
    const { connection, events, second } = changed
    const { connectionId, sourceId } = connection
    const working = second()
    await bench.stores.connections.delete(connectionId, { sourceId })
    await working
    await end(changed)
    for (const event of events) {
      const { state, reason } = required(await bench.delivery(event, connection))
      expect([state, reason]).toEqual(
        state === 'delivered' ? ['delivered', undefined] : ['failed', 'connection_deleted'],
      )
    }
  })
})
