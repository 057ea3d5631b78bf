import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toBase64 } from '../../src/crypto/bytes.ts'
import { formatFragment, parseFragment } from '../../src/crypto/fragment.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { openContent, revealProof, sealContent } from '../../src/crypto/seal.ts'
import { sealByReference } from './reference.ts'
import { files, secretNamed, secrets } from './vectors.ts'

/** The random bytes of a vector, in the order of their use. */
function given(...hex: string[]) {
  return (size: number) => {
    const bytes = Uint8Array.from(Buffer.from(hex.shift() ?? '', 'hex'))
    expect(bytes).toHaveLength(size)
    return bytes
  }
}

const contents = [
  ...secrets.map(({ text, ...vector }) => ({ ...vector, content: text, ofReference: text })),
  ...files.map(({ file, ...vector }) => ({
    ...vector,
    content: { ...file, bytes: Uint8Array.from(Buffer.from(file.bytes, 'hex')) },
    ofReference: file,
  })),
]

describe.each(contents)('the vector: $name', (vector) => {
  const { id, linkKey, iv, content, ofReference, expected } = vector
  const passphrase = vector.passphrase ?? undefined

  test('matches what is sealed', async () => {
    const sealed = await sealContent({ id, content, passphrase }, given(linkKey, iv))
    expect(formatFragment(sealed.fragment)).toBe(expected.fragment)
    expect(sealed.body).toMatchObject(expected.body)
    expect(toBase64(sealed.ciphertext)).toBe(sealed.body.ciphertext)
    expect(sealed.ciphertext).toHaveLength(expected.ciphertextBytes)
    const digest = createHash('sha256').update(sealed.body.ciphertext).digest('hex')
    expect(digest).toBe(expected.ciphertextSha256)
  })

  test('is opened and gives the proofs that match its hashes', async () => {
    const { body } = sealByReference({ ...vector, content: ofReference })
    expect(body).toMatchObject(expected.body)
    const keys = await deriveKeys(parseFragment(expected.fragment), passphrase)
    expect(await openContent(keys, { id, ...body })).toEqual(content)
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
