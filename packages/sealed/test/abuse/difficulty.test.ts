import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import {
  type Challenge,
  requiredBits,
  solveWork,
  verifyWork,
} from '../../src/crypto/proof-of-work.ts'
import { openDb, startApp } from '../support/sealed-app.ts'
import {
  codeOf,
  issueToken,
  newCiphertext,
  newKeys,
  newSecretBody,
  postSecret,
} from '../support/sealed-client.ts'
import { rawItem } from '../support/secrets.ts'

const bytes = (ciphertext: string) => Buffer.from(ciphertext, 'base64')

/** A counter that is not enough for the challenge, so that no test passes by luck. */
function wrongCounter(challenge: Challenge, ciphertext: string): number {
  let counter = 0
  while (verifyWork(challenge, bytes(ciphertext), counter)) counter++
  return counter
}

describe.each(serviceStores())('the proof of work', (store) => {
  const opened = openDb(store)
  const asking = (difficulty: number, perDoubling = 0) => {
    const env = {
      SEALED_DIFFICULTY: String(difficulty),
      SEALED_DIFFICULTY_PER_DOUBLING: String(perDoubling),
    }
    return startApp(opened.db, { env })
  }

  test('is accepted for the ciphertext and the token that it was done for', async () => {
    const app = await asking(8)
    const { token, challenge } = await issueToken(app)
    const body = newSecretBody(newKeys())
    const pow = await solveWork(challenge, bytes(body.ciphertext))
    expect((await postSecret(app, token, { ...body, pow })).status).toBe(201)
  })

  test('is refused if it has too few bits, and can be repeated with the same token', async () => {
    const app = await asking(8)
    const { id, token, challenge } = await issueToken(app)
    const body = newSecretBody(newKeys())
    const pow = wrongCounter(challenge, body.ciphertext)
    const answer = await postSecret(app, token, { ...body, pow })
    expect([answer.status, await codeOf(answer)]).toEqual([403, 'sealed.invalid_pow'])
    expect(await rawItem(opened.db, id)).toBeUndefined()
    const enough = await solveWork(challenge, bytes(body.ciphertext))
    expect((await postSecret(app, token, { ...body, pow: enough })).status).toBe(201)
  })

  test('is refused for another ciphertext', async () => {
    const app = await asking(8)
    const { token, challenge } = await issueToken(app)
    const [done, sent] = [newCiphertext(), newCiphertext()]
    let pow = 0
    while (!verifyWork(challenge, bytes(done), pow) || verifyWork(challenge, bytes(sent), pow))
      pow++
    const answer = await postSecret(app, token, newSecretBody(newKeys(), { ciphertext: sent, pow }))
    expect(await codeOf(answer)).toBe('sealed.invalid_pow')
  })

  test('is refused for another token', async () => {
    const app = await asking(8)
    const [done, sent] = [await issueToken(app), await issueToken(app)]
    const ciphertext = newCiphertext()
    let pow = 0
    while (
      !verifyWork(done.challenge, bytes(ciphertext), pow) ||
      verifyWork(sent.challenge, bytes(ciphertext), pow)
    )
      pow++
    const answer = await postSecret(app, sent.token, newSecretBody(newKeys(), { ciphertext, pow }))
    expect(await codeOf(answer)).toBe('sealed.invalid_pow')
  })

  test('has the difficulty in the token, even if the server requires less now', async () => {
    const { token, challenge } = await issueToken(await asking(8))
    const body = newSecretBody(newKeys())
    const pow = wrongCounter(challenge, body.ciphertext)
    const answer = await postSecret(await asking(0), token, { ...body, pow })
    expect(await codeOf(answer)).toBe('sealed.invalid_pow')
  })

  test('grows with the size of the secret', async () => {
    const app = await asking(1, 2)
    const { token, challenge } = await issueToken(app)
    expect(
      [256, 1024, 4096, 16_384, 51_204].map((size) => requiredBits(challenge, size + 16)),
    ).toEqual([1, 1, 5, 9, 12])
    const ciphertext = newCiphertext(4096)
    // Enough for a small secret, and not for this one.
    let pow = 0
    while (
      !verifyWork({ ...challenge, perDoubling: 0 }, bytes(ciphertext), pow) ||
      verifyWork(challenge, bytes(ciphertext), pow)
    )
      pow++
    const body = newSecretBody(newKeys(), { ciphertext })
    expect(await codeOf(await postSecret(app, token, { ...body, pow }))).toBe('sealed.invalid_pow')
    const enough = await solveWork(challenge, bytes(ciphertext))
    expect((await postSecret(app, token, { ...body, pow: enough })).status).toBe(201)
  })
})
