/** The common part of the operations that encrypt and decrypt. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@strongroom/platform/clock'
import { openBlob, readHeader, sealBlob, type EncryptionContext } from '../blob.ts'
import { parseBytes, checkGrantTokens, parseKeyId, rejectUnsupported } from '../checks.ts'
import { incorrectKey, invalidCiphertext } from '../errors.ts'
import type { BackingKey } from '../key-storage.ts'
import { type FoundKey, type Keys, requireUsable } from '../keys.ts'
import { MASTER_KEY_BYTES, type Wrapping } from '../master-key/key.ts'

export const SYMMETRIC_DEFAULT = 'SYMMETRIC_DEFAULT'
export const MAX_PLAINTEXT_BYTES = 4096
const MAX_BLOB_BYTES = 6144

/** Checks the parameters that all of these requests have. */
export function checkCommon(input: Readonly<Record<string, unknown>>): void {
  checkGrantTokens(input['GrantTokens'])
  rejectUnsupported(input, {
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
  /** The expected key, if the caller specified one. */
  keyId: unknown
  keyIdName: string
  context: EncryptionContext
}

export async function open(
  keys: Keys,
  { blob, keyId, keyIdName, context }: Sealed,
  found: (arn: string) => void,
): Promise<{ key: FoundKey; plaintext: Uint8Array }> {
  const bytes = parseBytes(blob, 'CiphertextBlob', MAX_BLOB_BYTES)
  const wanted = keyId === undefined ? undefined : parseKeyId(keyId, keyIdName)
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
  // If the version existed, missing material means that the store is damaged.
  if (header.version < 1 || header.version > key.record.currentVersion) throw invalidCiphertext()
  const material = await keys.material(key, header.version)
  const plaintext = openBlob(bytes, material, context)
  if (!plaintext) throw invalidCiphertext()
  return { key, plaintext }
}

/** Generates material for a key and returns only its wrapped form. */
export function newBackingKey(
  wrapping: Wrapping,
  clock: Clock,
  id: string,
  version: number,
): BackingKey {
  const material = randomBytes(MASTER_KEY_BYTES)
  const wrapped = wrapping.wrap(id, version, material)
  material.fill(0)
  return { version, createdAt: clock.now(), wrapped }
}
