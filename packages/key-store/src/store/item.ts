/**
 * The record format of a branch key (DynamoDB key storage 0.2.0, "Record Format") and its validation.
 *
 * KMS authenticates every attribute but `enc` as encryption context, so all other attributes must be
 * strings. `tablename`, the name of the logical key store in the context, must not be an attribute: an
 * item could otherwise choose the key store it belongs to.
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
  /** Never parsed or compared: AWS's runtimes write it in four formats. */
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

/** Whether a sort key belongs to a branch key; other programs may have items under the same id. */
export function isBranchKeyType(type: unknown): boolean {
  if (typeof type !== 'string') return false
  return type === ACTIVE_TYPE || type === BEACON_TYPE || isVersion(type)
}

/** Whether a version follows the prefix. */
function isVersion(text: string): boolean {
  return text.startsWith(VERSION_PREFIX) && text.length > VERSION_PREFIX.length
}
