/**
 * The record format of a branch key (DynamoDB key storage 0.2.0, "Record Format"), and what makes
 * an item a valid one.
 *
 * Every attribute but `enc` is authenticated by KMS as encryption context. That is why all further
 * attributes must be strings, and why `tablename`, the context's name for the logical key store,
 * must not be one of them: an item that brings its own would say where it belongs.
 */
import * as z from 'zod'

export const ACTIVE_TYPE = 'branch:ACTIVE'
export const BEACON_TYPE = 'beacon:ACTIVE'
export const VERSION_PREFIX = 'branch:version:'

/** The prefix of custom encryption context, in items and in KMS. */
export const CONTEXT_PREFIX = 'aws-crypto-ec:'

/** The longest ciphertext that KMS returns and accepts. */
const MAX_ENC_BYTES = 6144
const MAX_KMS_ARN_LENGTH = 2048

const attributes = {
  'branch-key-id': z.string().min(1),
  type: z.string(),
  /** `branch:version:` and the version, on the active item only. */
  version: z.string().optional(),
  enc: z.custom<Uint8Array>(
    (value) => value instanceof Uint8Array && value.length >= 1 && value.length <= MAX_ENC_BYTES,
  ),
  'kms-arn': z.string().min(1).max(MAX_KMS_ARN_LENGTH),
  /** Never parsed or compared: AWS's own runtimes write it in four ways. */
  'create-time': z.string(),
  'hierarchy-version': z.number(),
}

// KS-29, KS-30, KS-31, KS-32, KS-33, KS-34, KS-35, KS-36
export const BranchKeyItem = z
  .object(attributes)
  .catchall(z.unknown())
  .superRefine((item, { addIssue }) => {
    const refuse = (attribute: string) =>
      addIssue({ code: 'custom', path: [attribute], message: 'not a branch key record' })
    for (const [name, value] of Object.entries(item)) {
      if (Object.hasOwn(attributes, name)) continue
      if (name === 'tablename' || typeof value !== 'string') refuse(name)
    }
    const { type, version } = item
    if (type === ACTIVE_TYPE) {
      if (version === undefined || !isVersion(version)) refuse('version')
    } else if (type === BEACON_TYPE || isVersion(type)) {
      if (version !== undefined) refuse('version')
    } else {
      refuse('type')
    }
  })
export type BranchKeyItem = z.infer<typeof BranchKeyItem>

/** Whether a sort key is one of a branch key; a table may hold items of others under the same id. */
export function isBranchKeyType(type: unknown): boolean {
  if (typeof type !== 'string') return false
  return type === ACTIVE_TYPE || type === BEACON_TYPE || isVersion(type)
}

/** Whether something follows the prefix: the prefix alone names no version. */
function isVersion(text: string): boolean {
  return text.startsWith(VERSION_PREFIX) && text.length > VERSION_PREFIX.length
}
