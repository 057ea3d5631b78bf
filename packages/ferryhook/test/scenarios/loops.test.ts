/** Connections that lead back to a source. */
import { testStores } from '@strongroom/kit/testing/stores'
import { afterEach, describe, expect, test } from 'vitest'
import { hopsOf, MAX_HOPS } from '../../src/outbound/hops.ts'
import { answer } from '../support/test-destination.ts'
import { openIngestBench } from '../support/test-ingest.ts'
import { required } from '../support/test-stores.ts'
import { openWorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function ingestBench() {
  const bench = await openIngestBench(store)
  opened.push(bench)
  return bench
}

async function workerBench(fetch: Parameters<typeof openWorkerBench>[1] = {}) {
  const bench = await openWorkerBench({ store }, fetch)
  opened.push(bench)
  return bench
}

describe('the hop count', () => {
  test.each([
    [undefined, '1'],
    ['1', '2'],
    ['4', '5'],
    ['made up', '1'],
    ['1, 3', '4'],
  ])('of an event received with %s is delivered as %s', async (received, sent) => {
    const bench = await workerBench()
    const source = await bench.newSource()
    await bench.connect(source, '/hops')
    const headers = JSON.stringify(received === undefined ? {} : { 'x-ferryhook-hops': received })
    await bench.receive(source, { headers })
    await bench.worker.runOnce()
    expect(bench.sink.received('/hops')[0]?.headers['x-ferryhook-hops']).toBe(sent)
  })

  test('of five is accepted, and the sixth hop is rejected and stored as failed', async () => {
    const bench = await ingestBench()
    const source = await bench.source()
    const send = (hops: number) =>
      bench.send(source.sourceId, { headers: { 'X-Ferryhook-Hops': String(hops) }, body: '{}' })
    expect((await send(MAX_HOPS)).status).toBe(200)
    const { status, body } = await send(MAX_HOPS + 1)
    expect([status, body.error?.code]).toEqual([508, 'ferryhook.loop'])
    const events = await bench.eventsOf(source)
    expect(events.map((event) => [event.status, event.reason])).toContainEqual(['failed', 'loop'])
    // Only the accepted one is delivered.
    expect(await bench.toBeRouted()).toHaveLength(1)
  })

  test('is taken from the highest of several values', () => {
    expect(hopsOf({})).toBe(0)
    expect(hopsOf({ 'x-ferryhook-hops': ['2', '7'] })).toBe(7)
    expect(hopsOf({ 'x-ferryhook-hops': '-1, 1e9, 99999999999' })).toBe(0)
  })
})

test('a rejected loop is no failure in the log, because anybody can send the header', async () => {
  const bench = await ingestBench()
  const source = await bench.source()
  const headers = { 'X-Ferryhook-Hops': String(MAX_HOPS + 1) }
  expect((await bench.send(source.sourceId, { headers, body: '{}' })).status).toBe(508)
  const levels = bench.lines.map((line) => (JSON.parse(line) as { level: string }).level)
  expect(levels).not.toContain('error')
  expect(bench.lines.join('')).toContain('ferryhook.loop')
})

test('a rejected loop is stored for its owner a limited number of times', async () => {
  const bench = await ingestBench()
  const source = await bench.source()
  const body = 'x'.repeat(200_000)
  for (let sent = 0; sent < 15; sent++) {
    await bench.send(source.sourceId, { headers: { 'x-ferryhook-hops': '6' }, body })
  }
  expect(await bench.eventsOf(source)).toHaveLength(10)
})

test('a delivery that is rejected as a loop is not retried', async () => {
  const bench = await workerBench()
  bench.sink.behave('/loop', answer(508))
  const source = await bench.newSource()
  const connection = await bench.connect(source, '/loop')
  const event = await bench.receive(source)
  await bench.worker.runOnce()
  expect(await bench.delivery(event, connection)).toMatchObject({ state: 'failed', reason: 'loop' })
})

test('a destination that resolves to the server itself is refused before a request is sent', async () => {
  const own = { origins: [] as string[], listeners: [] as { host: string; port: number }[] }
  const bench = await workerBench({ fetch: { own, resolve: async () => ['127.0.0.1'] } })
  own.listeners.push({ host: '127.0.0.1', port: bench.sink.port })
  const again = bench.anotherWorker()
  const source = await bench.newSource()
  const url = `http://alias.example.com:${bench.sink.port}/in`
  const connection = await bench.connect(source, url)
  const event = await bench.receive(source)
  await again.runOnce()
  expect(bench.sink.received()).toEqual([])
  expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'blocked_address' })
  const [attempt] = await bench.attempts(event, connection)
  expect(attempt?.error).toBe('Address is one of this server: choose another destination')
})
