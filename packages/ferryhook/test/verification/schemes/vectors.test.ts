import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signatureHeaders } from '../../../src/signing/signature.ts'
import { parseTimestamp } from '../../../src/verification/scheme.ts'
import { SigningScheme, verifySignature } from '../../../src/verification/schemes.ts'

interface Vector {
  provider: string
  origin: string
  secret?: string
  publicKey?: string
  webhookId?: string
  certPem?: string
  url?: string
  headers: Record<string, string>
  body: string
  now?: number
}

const file = join(import.meta.dirname, '../../signature-vectors.json')
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[]
const incoming = vectors.filter(({ provider }) => provider !== 'ferryhook-outbound')

/** The scheme of a vector, if it is not named like its provider. */
function schemeOf({ provider, certPem }: Vector): SigningScheme {
  const algorithms: Record<string, string> = {
    'standard-webhooks-ed25519': 'standard-webhooks',
    'gitlab-token': 'gitlab',
  }
  const pinned = certPem === undefined ? {} : { certificates: certPem, environment: 'sandbox' }
  return SigningScheme.parse({ algorithm: algorithms[provider] ?? provider, ...pinned })
}

function verify(vector: Vector, body = vector.body) {
  const { secret, publicKey, webhookId, url = 'https://example.com/in', headers } = vector
  // Some vectors can only be checked at the time they were signed.
  const signedAt = Object.entries(headers).find(([name]) => /time/.test(name))?.[1] ?? ''
  return verifySignature({
    scheme: schemeOf(vector),
    secrets: [secret ?? publicKey ?? webhookId ?? ''],
    request: { method: 'POST', url, headers, body: Buffer.from(body) },
    now: vector.now === undefined ? (parseTimestamp(signedAt) ?? 0) : vector.now * 1000,
  })
}

test('there are sixteen vectors, one of them for outgoing signatures', () => {
  expect(vectors).toHaveLength(16)
  expect(incoming).toHaveLength(15)
})

test.each(incoming)('the $provider vector ($origin) is accepted', async (vector) => {
  expect(await verify(vector)).toEqual({ ok: true })
})

const ofBodies = incoming.filter(({ provider }) => provider !== 'gitlab-token')

test.each(ofBodies)(
  'the $provider vector ($origin) is rejected with any other body',
  async (vector) => {
    expect(await verify(vector, `${vector.body}&x=1`)).toEqual({ ok: false, reason: 'no_match' })
  },
)

test('outgoing signatures equal their vector, for the same key bytes', () => {
  for (const { provider, secret = '', headers, body, now = 0 } of vectors) {
    if (provider !== 'ferryhook-outbound') continue
    const whsec = `whsec_${Buffer.from(secret).toString('base64')}`
    const made = signatureHeaders({
      eventId: 'evt_0123456789abcdef',
      body: Buffer.from(body),
      secrets: [whsec],
      now: now * 1000,
    })
    expect(made).toMatchObject(headers)
  }
})
