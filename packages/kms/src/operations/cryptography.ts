/** What the operations that encrypt and decrypt have in common. */
import { openBlob, readHeader, sealBlob } from '../blob.ts'
import { bytesIn, checkGrantTokens, keyIdIn, refuseUnsupported } from '../checks.ts'
import type { EncryptionContext } from '../encryption-context.ts'
import { incorrectKey, invalidCiphertext } from '../errors.ts'
import { type FoundKey, type Keys, requireUsable } from '../keys.ts'

export const SYMMETRIC_DEFAULT = 'SYMMETRIC_DEFAULT'
export const MOST_PLAINTEXT_BYTES = 4096
const MOST_BLOB_BYTES = 6144

/** Checks what all of these requests may carry. */
export function checkCommon(input: Readonly<Record<string, unknown>>): void {
  checkGrantTokens(input['GrantTokens'])
  refuseUnsupported(input, {
    DryRun: [false],
    Recipient: [],
    EncryptionAlgorithm: [SYMMETRIC_DEFAULT],
    SourceEncryptionAlgorithm: [SYMMETRIC_DEFAULT],
    DestinationEncryptionAlgorithm: [SYMMETRIC_DEFAULT],
  })
}

export async function usableKey(keys: Keys, keyId: string): Promise<FoundKey> {
  const key = await keys.find(keyId)
  requireUsable(key)
  return key
}

export async function seal(
  keys: Keys,
  key: FoundKey,
  context: EncryptionContext,
  plaintext: Uint8Array,
): Promise<Uint8Array> {
  const { id, currentVersion } = key.record
  const material = await keys.currentMaterial(key)
  return sealBlob({ id, version: currentVersion }, material, context, plaintext)
}

interface Sealed {
  blob: unknown
  /** The key that it must be, if the caller said so. */
  keyId: unknown
  keyIdName: string
  context: EncryptionContext
}

export async function open(
  keys: Keys,
  { blob, keyId, keyIdName, context }: Sealed,
  found: (arn: string) => void,
): Promise<{ key: FoundKey; plaintext: Uint8Array }> {
  const bytes = bytesIn(blob, 'CiphertextBlob', MOST_BLOB_BYTES)
  const wanted = keyId === undefined ? undefined : keyIdIn(keyId, keyIdName)
  if (wanted !== undefined) found(wanted)
  const given = wanted === undefined ? undefined : await keys.find(wanted)
  if (given) found(given.arn)
  const header = readHeader(bytes)
  if (!header) throw invalidCiphertext()
  const key = given?.record.id === header.id ? given : await keys.lookUp(header.id)
  if (!key) throw invalidCiphertext()
  found(key.arn)
  if (given && key !== given) throw incorrectKey()
  requireUsable(key)
  // Of a version that the key has had, material that is not there is damage of the store.
  if (header.version < 1 || header.version > key.record.currentVersion) throw invalidCiphertext()
  const material = await keys.material(key, header.version)
  const plaintext = openBlob(bytes, material, context)
  if (!plaintext) throw invalidCiphertext()
  return { key, plaintext }
}
