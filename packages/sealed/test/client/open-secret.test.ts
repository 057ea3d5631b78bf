import { describe, expect, test } from 'vitest'
import { openSecret } from '../../src/client/open-secret.ts'
import type { RetryOptions } from '../../src/client/retry.ts'
import { parseFragment } from '../../src/crypto/fragment.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { secretNamed } from '../crypto/vectors.ts'
import { answering, json, instantRetry, refusal } from '../support/fake-server.ts'

const { id, text, expected } = secretNamed('a password with the newline of echo')
const claim = '0123456789abcdef0123456789abcdef'
const revealed = json({ ...expected.body, remainingViews: 0, graceSeconds: 30 })

async function reading(...answers: Parameters<typeof answering>) {
  const { retry, waits } = instantRetry()
  return { ...(await readingWith(retry, ...answers)), waits }
}

async function readingWith(retry: RetryOptions, ...answers: Parameters<typeof answering>) {
  const { api, requests } = answering(...answers)
  const keys = await deriveKeys(parseFragment(expected.fragment))
  const opened = openSecret(api, { id, keys, claim }, retry)
  return { opened, bodies: () => requests.map(({ init }) => init.body) }
}

const lost = () => 'lost' as const

describe('a secret is opened', () => {
  test('with one request if the response arrives', async () => {
    const { opened, waits, bodies } = await reading(revealed)
    expect(await opened).toEqual({ content: text, remainingViews: 0, graceSeconds: 30 })
    expect(bodies()).toEqual([
      JSON.stringify({ link: expected.link, proof: expected.proof, claim }),
    ])
    expect(waits).toEqual([])
  })

  test('with less time to read it again the longer the response took', async () => {
    const { retry } = instantRetry()
    const slow = () => {
      void retry.wait(12_000)
      return revealed()
    }
    const { opened } = await readingWith(retry, lost, slow)
    expect(await opened).toMatchObject({ graceSeconds: 18 })
  })

  test('with the same request again if the response was lost in any way', async () => {
    const { opened, bodies } = await reading(
      lost,
      refusal('server.unavailable', 503),
      () => 'unreachable',
      json({}, 429),
      revealed,
    )
    expect(await opened).toMatchObject({ content: text })
    expect(bodies()).toHaveLength(5)
    expect(new Set(bodies()).size).toBe(1)
  })

  test('with retries only while the claim is certainly live', async () => {
    const { opened, waits } = await reading(lost)
    await expect(opened).rejects.toMatchObject({ code: 'lost' })
    const seconds = waits.map(([, each]) => each)
    expect(seconds.slice(0, 5)).toEqual([0.5, 1, 2, 4, 4])
    const total = seconds.reduce((sum, each) => sum + each, 0)
    expect(total).toBeGreaterThan(20)
    expect(total).toBeLessThan(30)
  })

  test('after a wait that the server requested, with the full time', async () => {
    const { opened, waits } = await reading(json({}, 429, { 'retry-after': '60' }), lost, revealed)
    expect(await opened).toMatchObject({ content: text })
    expect(waits).toEqual([
      ['rate_limited', 60],
      ['lost', 0.5],
    ])
  })

  test('without a retry after a response that broke off when the claim had ended', async () => {
    const { retry } = instantRetry()
    const brokenOff = () => {
      void retry.wait(31_000)
      return 'lost' as const
    }
    const { opened, bodies } = await readingWith(retry, brokenOff, revealed)
    await expect(opened).rejects.toMatchObject({ code: 'lost' })
    expect(bodies()).toHaveLength(1)
  })

  test('without a retry if nothing was sent, or the secret was refused or changed', async () => {
    const changed = json({
      ...expected.body,
      iv: 'AAAAAAAAAAAAAAAA',
      remainingViews: 0,
      graceSeconds: 30,
    })
    const outcomes = [
      [() => 'unreachable' as const, 'unreachable'],
      [refusal('sealed.not_available', 404), 'not_available'],
      [json({}, 429, { 'retry-after': '61' }), 'rate_limited'],
      [refusal('sealed.wrong_passphrase', 403, { triesLeft: 2 }), 'wrong_passphrase'],
      [changed, 'cannot_open'],
    ] as const
    for (const [answer, code] of outcomes) {
      const { opened, bodies } = await reading(answer)
      await expect(opened).rejects.toMatchObject({ code })
      expect(bodies()).toHaveLength(1)
    }
  })

  test('without another retry once the secret is not available', async () => {
    const { opened, bodies } = await reading(lost, refusal('sealed.not_available', 404))
    await expect(opened).rejects.toMatchObject({ code: 'not_available' })
    expect(bodies()).toHaveLength(2)
  })
})
