import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isKey, parseJoinToken, newJoinToken, newKey } from '../../src/credentials/keys.ts'
import { challengeResponse, staticProof } from '../../src/proofs/protocol.ts'
import {
  isSignedBy,
  formatPublicKey,
  releaseMessage,
  signRelease,
} from '../../src/releases/signature.ts'
import { canonicalRequest, verifySignature, signText } from '../../src/authentication/signature.ts'
import { parseSiteAddress } from '../../src/sites/address.ts'

interface Vectors {
  signed_requests: {
    webhook_secret: string
    requests: {
      method: string
      target: string
      body?: string
      body_repeat?: { repeat: string; times: number }
      timestamp: number
      nonce: string
      canonical: string
      signature: string
    }[]
  }
  proofs: {
    temp_key: string
    registration_id: string
    proofs: { domain: string; challenge: string; response: string; static: string }[]
  }
  releases: {
    public_key: string
    private_key_seed: string
    releases: {
      slug: string
      version: string
      sha256: string
      message: string
      signature: string
    }[]
  }
  domains: { site_url: string; domain: string }[]
}

const vectors = JSON.parse(
  readFileSync(new URL('../signature-vectors.json', import.meta.url), 'utf8'),
) as Vectors

test('signatures of requests match the vectors', () => {
  const { webhook_secret, requests } = vectors.signed_requests
  expect(requests.length).toBeGreaterThan(8)
  for (const { method, target, body, body_repeat, timestamp, nonce, ...expected } of requests) {
    const text = body ?? body_repeat?.repeat.repeat(body_repeat.times) ?? ''
    const signed = canonicalRequest(
      { method, target, body: Buffer.from(text) },
      { timestamp, nonce },
    )
    expect(signed).toBe(expected.canonical)
    expect(`v1=${signText(webhook_secret, signed)}`).toBe(expected.signature)
    expect(verifySignature(webhook_secret, signed, expected.signature.slice(3))).toBe(true)
    expect(verifySignature('other', signed, expected.signature.slice(3))).toBe(false)
  }
})

test('proofs of domains match the vectors', () => {
  const { temp_key, registration_id, proofs } = vectors.proofs
  for (const { domain, challenge, response, static: published } of proofs) {
    const subject = { temp_key, registration_id, domain }
    expect(challengeResponse(subject, challenge)).toBe(response)
    expect(staticProof(subject)).toBe(published)
  }
})

test('signatures of releases match the vectors', () => {
  const { public_key, private_key_seed, releases } = vectors.releases
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(private_key_seed, 'base64'),
  ])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  expect(formatPublicKey(privateKey)).toBe(public_key)
  for (const { message, signature, ...release } of releases) {
    expect(releaseMessage(release).toString()).toBe(message)
    expect(signRelease(release, privateKey)).toBe(signature)
    expect(isSignedBy([public_key], release, signature)).toBe(true)
    expect(isSignedBy([public_key], { ...release, version: '9' }, signature)).toBe(false)
  }
})

test('normalized domains match the vectors, also after the function was optimized by the JIT', () => {
  const spelled = () => vectors.domains.map(({ site_url }) => parseSiteAddress(site_url)?.domain)
  for (let n = 0; n < 5_000; n++) spelled()
  expect(spelled()).toEqual(vectors.domains.map(({ domain }) => domain))
})

test('truncated, changed and invented keys are detected', () => {
  const key = newKey('live')
  expect(isKey('live', key)).toBe(true)
  expect(isKey('agency', key)).toBe(false)
  for (const wrong of [key.slice(0, -1), `${key}0`, key.replace('live', 'agency'), '']) {
    expect(isKey('live', wrong)).toBe(false)
    expect(isKey('agency', wrong)).toBe(false)
  }
  const token = newJoinToken('agency_0123456789_-cdef')
  expect(parseJoinToken(token)?.agency_id).toBe('agency_0123456789_-cdef')
  expect(parseJoinToken(token.replace(/.$/, 'x'))).toBeUndefined()
})
