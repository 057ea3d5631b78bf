import { describe, expect, test } from 'vitest'
import { openSecret } from '../../src/client/open-secret.ts'
import type { Patience } from '../../src/client/patience.ts'
import { parseFragment } from '../../src/crypto/fragment.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { secretNamed } from '../crypto/vectors.ts'
import { answering, json, quickPatience, refusal } from './answers.ts'

const { id, text, expected } = secretNamed('a password with the newline of echo')
const claim = '0123456789abcdef0123456789abcdef'
const revealed = json({ ...expected.body, remainingViews: 0, graceSeconds: 30 })

async function reading(...answers: Parameters<typeof answering>) {
  const { patience, waits } = quickPatience()
  return { ...(await readingWith(patience, ...answers)), waits }
}

async function readingWith(patience: Patience, ...answers: Parameters<typeof answering>) {
  const { api, requests } = answering(...answers)
  const keys = await deriveKeys(parseFragment(expected.fragment))
  const opened = openSecret(api, { id, keys, claim }, patience)
  return { opened, bodies: () => requests.map(({ init }) => init.body) }
}

const lost = () => 'lost' as const

describe('a secret is opened', () => {
  test('with one request if its answer arrives', async () => {
    const { opened, waits, bodies } = await reading(revealed)
    expect(await opened).toEqual({ text, remainingViews: 0, graceSeconds: 30 })
    expect(bodies()).toEqual([
      JSON.stringify({ link: expected.link, proof: expected.proof, claim }),
    ])
    expect(waits).toEqual([])
  })

  test('with less time to read it again, the longer its answer took', async () => {
    const { patience } = quickPatience()
    const slow = () => {
      void patience.wait(12_000)
      return revealed()
    }
    const { opened } = await readingWith(patience, lost, slow)
    expect(await opened).toMatchObject({ graceSeconds: 18 })
  })

  test('with the same request again if its answer got lost, however it got lost', async () => {
    const { opened, bodies } = await reading(
      lost,
      refusal('server.unavailable', 503),
      () => 'unreachable',
      json({}, 429),
      revealed,
    )
    expect(await opened).toMatchObject({ text })
    expect(bodies()).toHaveLength(5)
    expect(new Set(bodies()).size).toBe(1)
  })

  test('with tries only while the claim is live for certain', async () => {
    const { opened, waits } = await reading(lost)
    await expect(opened).rejects.toMatchObject({ code: 'lost' })
    const seconds = waits.map(([, each]) => each)
    expect(seconds.slice(0, 5)).toEqual([0.5, 1, 2, 4, 4])
    const total = seconds.reduce((sum, each) => sum + each, 0)
    expect(total).toBeGreaterThan(20)
    expect(total).toBeLessThan(30)
  })

  test('after a wait that the server asked for, with all the time there is', async () => {
    const { opened, waits } = await reading(json({}, 429, { 'retry-after': '60' }), lost, revealed)
    expect(await opened).toMatchObject({ text })
    expect(waits).toEqual([
      ['rate_limited', 60],
      ['lost', 0.5],
    ])
  })

  test('not again after an answer that broke off when the claim was no longer live', async () => {
    const { patience } = quickPatience()
    const brokenOff = () => {
      void patience.wait(31_000)
      return 'lost' as const
    }
    const { opened, bodies } = await readingWith(patience, brokenOff, revealed)
    await expect(opened).rejects.toMatchObject({ code: 'lost' })
    expect(bodies()).toHaveLength(1)
  })

  test('not again where nothing was sent, refused or changed', async () => {
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

  test('not again once the view turns out to be gone', async () => {
    const { opened, bodies } = await reading(lost, refusal('sealed.not_available', 404))
    await expect(opened).rejects.toMatchObject({ code: 'not_available' })
    expect(bodies()).toHaveLength(2)
  })
})
