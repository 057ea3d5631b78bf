import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { answer } from '../support/test-destination.ts'
import { required } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

describe.each(serviceStores())('the response headers of an attempt, on $name', (store) => {
  let bench: WorkerBench
  beforeAll(async () => {
    bench = await openWorkerBench({ store })
  })
  afterAll(() => bench.close())

  let paths = 0
  async function stored(headers: Record<string, string>, more: { customHeaders?: object } = {}) {
    const path = `/${++paths}`
    bench.sink.behave(path, answer(500, headers, 'no'))
    const source = await bench.newSource()
    const connection = await bench.connect(source, path)
    if (more.customHeaders) {
      const customHeaders = await createSealedSecrets(secretBox).sealCustomHeaders(
        connection,
        more.customHeaders as Record<string, string>,
      )
      const { connectionId, sourceId } = connection
      await bench.stores.connections.update(connectionId, { customHeaders }, { sourceId })
    }
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    const [attempt] = await bench.attempts(event, connection)
    const json = required(attempt?.responseHeaders)
    return { json, headers: JSON.parse(json) as Record<string, string> }
  }

  test('are stored with a placeholder for credentials', async () => {
    const { headers, json } = await stored({
      'content-type': 'text/plain',
      'x-request-id': 'abc',
      'set-cookie': 'session=hush',
      'x-api-key': 'hush',
    })
    expect(headers).toMatchObject({
      'content-type': 'text/plain',
      'x-request-id': 'abc',
      'set-cookie': '(not kept)',
      'x-api-key': '(not kept)',
    })
    expect(json).not.toContain('hush')
  })

  test('do not contain the values of headers that the connection sends', async () => {
    const { headers, json } = await stored(
      { 'x-shop': 'hush', 'x-other': 'shown' },
      { customHeaders: { 'x-shop': 'hush' } },
    )
    expect(headers).toMatchObject({ 'x-shop': '(not kept)', 'x-other': 'shown' })
    expect(json).not.toContain('hush')
  })

  test('are limited in number and in size, and stay JSON', async () => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`x-${n}`, 'v']))
    expect(Object.keys((await stored(many)).headers)).toHaveLength(50)
    const long = await stored({ 'x-long': '"'.repeat(3_000) })
    expect(long.headers['x-long']).toBe(`${'"'.repeat(500)}…`)
    const large = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`x-${n}`, 'v'.repeat(600)]),
    )
    const { json, headers } = await stored(large)
    expect(json.length).toBeLessThanOrEqual(4_096)
    expect(Object.keys(headers).length).toBeGreaterThan(5)
  })
})
