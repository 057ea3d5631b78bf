import { describe, expect, test } from 'vitest'
import { sealSecret } from '../../src/client/seal-secret.ts'
import { fromBase64 } from '../../src/crypto/bytes.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { verifyWork } from '../../src/crypto/proof-of-work.ts'
import { openContent } from '../../src/crypto/seal.ts'
import { answering, json } from '../support/fake-server.ts'

const id = 'qbfk9EIRpnNPxOxc0C5C1Q'
const burnToken = '0123456789abcdef0123456789abcdef'
const challenge = { prefix: id, difficulty: 6, perDoubling: 1 }
const options = { defaultTtlSeconds: 3600, maxTtlSeconds: 7200, defaultViews: 1, maxViews: 2 }
const issued = { token: 'the.token', id, challenge, expiresAt: 1000, options }
const secret = { content: 'hunter2', ttlSeconds: 900, maxViews: 1 }

function server() {
  return answering(json(issued), json({ id, burnToken, expiresAt: 2000 }, 201))
}

describe('a secret is sealed', () => {
  test('with a token, a proof of work and nothing that opens it', async () => {
    const { api, requests } = server()
    const made = await sealSecret(api, { ...secret, receipt: true })
    expect(made).toEqual({
      secret: { kind: 'secret', id, fragment: made.secret.fragment },
      management: { kind: 'management', id, burnToken },
      expiresAt: 2000,
    })
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/sealed/v1/token',
      '/sealed/v1/secrets',
    ])
    const { headers, body } = requests[1]?.init ?? {}
    expect(headers).toMatchObject({ authorization: 'Bearer the.token' })
    const sent = JSON.parse(String(body)) as { ciphertext: string; iv: string; pow: number }
    expect(sent).toMatchObject({ ttlSeconds: 900, maxViews: 1, receipt: true, salt: null })
    const ciphertext = fromBase64(sent.ciphertext) ?? new Uint8Array()
    expect(verifyWork(challenge, ciphertext, sent.pow)).toBe(true)
    const keys = await deriveKeys(made.secret.fragment)
    expect(await openContent(keys, { id, ...sent })).toBe('hunter2')
  })

  test('without any request if the text is invalid, which fails', async () => {
    const { api, requests } = server()
    await expect(sealSecret(api, { ...secret, content: '' })).rejects.toMatchObject({
      code: 'text_empty',
    })
    expect(requests).toEqual([])
  })

  test('unless its work is aborted or takes too long, and then nothing is created', async () => {
    const hard = { ...issued, challenge: { ...challenge, difficulty: 200 } }
    const { api, requests } = server()
    const stop = new AbortController()
    stop.abort()
    const stopped = sealSecret(api, secret, { issued: hard, signal: stop.signal })
    await expect(stopped).rejects.toThrow('aborted')
    const late = sealSecret(api, secret, { issued: hard, workTimeoutMs: 1 })
    await expect(late).rejects.toMatchObject({ code: 'too_hard' })
    expect(requests).toEqual([])
  })
})
