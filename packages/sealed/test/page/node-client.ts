/** Seals and opens secrets outside a browser, with the client of the CLI. */
import { createSealedApi } from '../../src/client/api.ts'
import { RequestFailed } from '../../src/client/errors.ts'
import { openSecret } from '../../src/client/open-secret.ts'
import { sealSecret } from '../../src/client/seal-secret.ts'
import type { Content } from '../../src/crypto/content.ts'
import { randomBytes, toBase64url } from '../../src/crypto/bytes.ts'
import { deriveKeys } from '../../src/crypto/keys.ts'
import { deriveReaderKeys } from '../../src/crypto/reader.ts'
import { formatLink, parseLink } from '../../src/crypto/link.ts'
import { newClaim, revealProof } from '../../src/crypto/seal.ts'
import type { Links, SealOptions } from './steps.ts'

export async function sealInNode(
  base: string,
  content: Content,
  { passphrase, views = 1, receipt = false }: SealOptions = {},
): Promise<Links> {
  const wanted = { content, passphrase, ttlSeconds: 3600, maxViews: views, receipt }
  const { secret, management } = await sealSecret(createSealedApi({ base }), wanted)
  return { link: formatLink(base, secret), management: formatLink(base, management) }
}

export async function openInNode(link: string, passphrase?: string): Promise<Content> {
  const target = parseLink(link)
  if (target.kind !== 'secret' && target.kind !== 'own')
    throw new Error('This link opens no secret')
  const { base, id } = target
  const keys = await deriveReaderKeys(target, passphrase)
  const secret = { id, keys, claim: newClaim() }
  return (await openSecret(createSealedApi({ base }), secret)).content
}

/** Whether someone else can still open it. If so, this uses the view. */
export async function isAvailable(link: string): Promise<boolean> {
  try {
    await openInNode(link)
    return true
  } catch (error) {
    if (error instanceof RequestFailed && error.code === 'not_available') return false
    throw error
  }
}

/** Uses tries with random proofs. */
export async function wrongProofs(link: string, count: number) {
  const { base, id, fragment } = parsed(link)
  const keys = await deriveKeys({ ...fragment, passphraseProtected: false })
  const api = createSealedApi({ base })
  for (let tries = 0; tries < count; tries++) {
    const proof = { link: revealProof(keys).link, proof: toBase64url(randomBytes(32)) }
    await api.reveal(id, { ...proof, claim: newClaim() }).catch((error: unknown) => {
      if (!(error instanceof RequestFailed) || error.code !== 'wrong_passphrase') throw error
    })
  }
}

function parsed(link: string) {
  const target = parseLink(link)
  if (target.kind !== 'secret') throw new Error('This link opens no secret')
  return target
}
