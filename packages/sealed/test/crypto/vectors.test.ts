import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toBase64 } from '../../src/crypto/bytes.ts'
import { formatFragment, parseFragment } from '../../src/crypto/fragment.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { openText, revealProof, sealText } from '../../src/crypto/seal.ts'
import { sealByReference } from './reference.ts'
import { secretNamed, secrets } from './vectors.ts'

/** The random bytes of a vector, in the order of their use. */
function given(...hex: string[]) {
  return (size: number) => {
    const bytes = Uint8Array.from(Buffer.from(hex.shift() ?? '', 'hex'))
    expect(bytes).toHaveLength(size)
    return bytes
  }
}

describe.each(secrets)('the vector: $name', (vector) => {
  const { id, linkKey, iv, text, expected } = vector
  const passphrase = vector.passphrase ?? undefined

  test('matches what is sealed', async () => {
    const sealed = await sealText({ id, text, passphrase }, given(linkKey, iv))
    expect(formatFragment(sealed.fragment)).toBe(expected.fragment)
    expect(sealed.body).toMatchObject(expected.body)
    expect(toBase64(sealed.ciphertext)).toBe(sealed.body.ciphertext)
    expect(sealed.ciphertext).toHaveLength(expected.ciphertextBytes)
    const digest = createHash('sha256').update(sealed.body.ciphertext).digest('hex')
    expect(digest).toBe(expected.ciphertextSha256)
  })

  test('is opened and gives the proofs that match its hashes', async () => {
    const { body } = sealByReference({ ...vector, passphrase: vector.passphrase })
    expect(body).toMatchObject(expected.body)
    const keys = await deriveKeys(parseFragment(expected.fragment), passphrase)
    expect(await openText(keys, { id, ...body })).toBe(text)
    const proof = revealProof(keys)
    expect(proof).toEqual({ link: expected.link, proof: expected.proof })
    const hash = (sent: string) =>
      createHash('sha256').update(Buffer.from(sent, 'base64url')).digest('base64url')
    expect({ linkHash: hash(proof.link), proofHash: hash(proof.proof) }).toEqual({
      linkHash: body.linkHash,
      proofHash: body.proofHash,
    })
  })
})

test('composed and decomposed letters are the same passphrase', async () => {
  const { passphrase, passphraseInNfc, expected } = secretNamed('a passphrase that is not in NFC')
  expect(passphraseInNfc).not.toBe(passphrase)
  const keys = await deriveKeys(parseFragment(expected.fragment), passphraseInNfc)
  expect(revealProof(keys).proof).toBe(expected.proof)
})
