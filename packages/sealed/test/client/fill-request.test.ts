import { describe, expect, test } from 'vitest'
import { fillRequest, sealFill } from '../../src/client/fill-request.ts'
import { parseTarget } from '../../src/crypto/link.ts'
import { requests as vectors } from '../crypto/vectors.ts'
import { answering, instantRetry, json, refusal } from '../support/fake-server.ts'

const options = { defaultTtlSeconds: 3600, maxTtlSeconds: 7200, defaultViews: 1, maxViews: 2 }
const challenge = { prefix: 'p', difficulty: 1, perDoubling: 1 }
const issued = { token: 'the.work.token', id: 'i', challenge, expiresAt: 1000, options }
const filled = { id: 'i', burnToken: 'b', expiresAt: 2000 }

function requestTarget() {
  const target = parseTarget(vectors[0]?.expected.request ?? '')
  if (target.kind !== 'request') throw new Error('Not a request')
  return target
}

const sealed = () => sealFill({ request: requestTarget(), content: 'hunter2' })

describe('a request is filled', () => {
  test('by the same submission, however often it is sent', async () => {
    const { retry } = instantRetry()
    const secret = await sealed()
    const lost = answering(json(issued), () => 'lost' as const)
    await expect(fillRequest(lost.api, secret, { retry })).rejects.toMatchObject({ code: 'lost' })
    const next = answering(json(issued), json(filled, 201))
    const { management } = await fillRequest(next.api, secret, { retry })
    const sent = [...lost.requests, ...next.requests]
      .filter(({ url }) => url.includes('/requests/'))
      .map(({ init }) => JSON.parse(String(init.body)) as { ciphertext: string; burnToken: string })
    expect(sent).toHaveLength(5)
    expect(new Set(sent.map(({ ciphertext }) => ciphertext)).size).toBe(1)
    expect(new Set(sent.map(({ burnToken }) => burnToken))).toEqual(new Set([management.burnToken]))
  })

  test('also if the server cannot be reached after a response was lost', async () => {
    const { retry, waits } = instantRetry()
    const { api } = answering(
      json(issued),
      () => 'lost' as const,
      () => 'unreachable' as const,
      json(filled, 201),
    )
    expect(await fillRequest(api, await sealed(), { retry })).toMatchObject({ expiresAt: 2000 })
    expect(waits).toEqual([
      ['lost', 0.5],
      ['lost', 1],
    ])
  })

  test('not again if the server was never reached or refuses it', async () => {
    const { retry } = instantRetry()
    for (const [answer, code] of [
      [() => 'unreachable' as const, 'unreachable'],
      [refusal('sealed.not_available', 404), 'request_used'],
      [refusal('sealed.full', 507), 'full'],
    ] as const) {
      const { api, requests } = answering(json(issued), answer)
      await expect(fillRequest(api, await sealed(), { retry })).rejects.toMatchObject({ code })
      expect(requests).toHaveLength(2)
    }
  })

  test('never after it was cancelled, not even after a lost response', async () => {
    const controller = new AbortController()
    const { retry } = instantRetry()
    let sent = 0
    const { api, requests } = answering(json(issued), () => 'lost' as const)
    const cancelled = fillRequest(api, await sealed(), {
      signal: controller.signal,
      onSend: () => void sent++,
      retry: { ...retry, onWait: () => controller.abort() },
    })
    await expect(cancelled).rejects.toThrow('aborted')
    expect([sent, requests.length]).toEqual([1, 2])
  })
})
