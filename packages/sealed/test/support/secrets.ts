/** Secrets for tests, and their raw items. */
import { createHash } from 'node:crypto'
import type { Db, Item } from '@strongroom/kit/db'
import { randomToken } from '@strongroom/kit/ids'
import type { Claim, NewSecret } from '../../src/secrets/store.ts'

export const sha256 = (text: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(text).digest())

export const tokenHash = (token: string): string =>
  createHash('sha256').update(token).digest('hex').slice(0, 32)

export const newId = () => randomToken(16)

export function newSecret(given: Partial<NewSecret> = {}): NewSecret {
  return {
    id: newId(),
    ciphertext: Buffer.from('opaque to the server').toString('base64'),
    iv: Buffer.alloc(12, 7).toString('base64'),
    passphraseProtected: false,
    linkHash: sha256('link'),
    proofHash: sha256('proof'),
    burnTokenHash: tokenHash('burn'),
    maxViews: 1,
    ttlSeconds: 86_400,
    ...given,
  }
}

/** The claim of a reader of `newSecret`; each name is another reader. */
export function claimOf(reader: string, given: Partial<Claim> = {}): Claim {
  return {
    linkHash: sha256('link'),
    proofHash: sha256('proof'),
    claimHash: tokenHash(reader),
    ...given,
  }
}

export async function rawItem(db: Db, id: string): Promise<Item | undefined> {
  const { Item: item } = await db.getItem({
    TableName: 'sealed-secrets',
    Key: { id },
    ConsistentRead: true,
  })
  return item
}
