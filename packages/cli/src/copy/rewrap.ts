/**
 * Re-wraps what KMS has wrapped for the KMS key of the target. Within one KMS, ReEncrypt does it and
 * the keys never leave the KMS. Between two, they are decrypted by one and encrypted by the other, and
 * exist in this process for that moment. AWS's mutations of branch keys have the same two strategies.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Item } from '@strongroom/kit/db'
import { isNamed } from '@strongroom/kit/db-errors'
import { Failure } from '@strongroom/kit/errors'
import type { Table } from '@strongroom/kit/table'
import type { OpenKms } from '@strongroom/server/kms/open'
import { failureReason } from '@strongroom/server/store'
import { CONTINUE } from './failures.ts'
import { itemBytes } from './item-bytes.ts'
import { replaceParts, type WrappedPart, wrappedParts } from './wrapped-parts.ts'

export interface Rewrapper {
  /** The item as the target stores it. */
  toTarget(table: Table, item: Item): Promise<{ item: Item; isRewrapped: boolean }>
  /** Whether the target's item is the source's one, with the same keys inside. */
  isSame(table: Table, source: Item, target: Item): Promise<boolean>
  /** The parts that both sides have in the same form. */
  toComparable(table: Table, item: Item): Item
}

export function createRewrapper(from: OpenKms, to: OpenKms): Rewrapper {
  const isSameKms =
    from.kind !== 'embedded' && from.kind === to.kind && from.location === to.location
  const [source, target] = [kmsOf(from, 'source', 'from'), kmsOf(to, 'target', 'to')]

  /** The same part after its key has changed. */
  const partAtTarget = (table: Table, item: Item, { path, blob }: WrappedPart): WrappedPart => {
    const changed = replaceParts(table, item, to.key.arn, [{ path, blob }])
    const found = wrappedParts(table, changed).find((part) => isSamePath(part.path, path))
    if (!found) throw new Error('A wrapped part of an item disappeared when its key changed')
    return found
  }

  async function rewrap(table: Table, item: Item, part: WrappedPart): Promise<Uint8Array> {
    const { context } = partAtTarget(table, item, part)
    if (isSameKms) return source.reEncrypt(part, { arn: to.key.arn, context })
    const plaintext = await source.decrypt(part)
    try {
      return await target.encrypt(plaintext, context)
    } finally {
      plaintext.fill(0)
    }
  }

  async function isSameKey(one: WrappedPart, other: WrappedPart): Promise<boolean> {
    // Re-encrypting it under its own context authenticates it without disclosing it.
    if (isSameKms) return target.isAuthentic(other)
    const [plaintext, copy] = [await source.decrypt(one), await target.open(other)]
    const isSame =
      copy !== undefined && plaintext.length === copy.length && timingSafeEqual(plaintext, copy)
    for (const each of [plaintext, copy]) each?.fill(0)
    return isSame
  }

  function toComparable(table: Table, item: Item): Item {
    const parts = wrappedParts(table, item)
    if (parts.length === 0) return item
    const removed = parts.map(({ path }) => ({ path, blob: undefined }))
    return replaceParts(table, item, to.key.arn, removed)
  }

  return {
    toComparable,

    async toTarget(table, item) {
      const parts = wrappedParts(table, item)
      if (parts.length === 0) return { item, isRewrapped: false }
      const replacements = []
      for (const part of parts)
        replacements.push({ path: part.path, blob: await rewrap(table, item, part) })
      return { item: replaceParts(table, item, to.key.arn, replacements), isRewrapped: true }
    },

    async isSame(table, one, other) {
      const parts = wrappedParts(table, one)
      if (parts.length === 0) return itemBytes(one).equals(itemBytes(other))
      const [mine, theirs] = [toComparable(table, one), toComparable(table, other)]
      if (!itemBytes(mine).equals(itemBytes(theirs))) return false
      const copies = wrappedParts(table, other)
      for (const part of parts) {
        const copy = copies.find(({ path }) => isSamePath(path, part.path))
        if (copy?.arn !== undefined && copy.arn !== to.key.arn) return false
        if (!copy || !(await isSameKey(part, copy))) return false
      }
      return true
    },
  }
}

function isSamePath(one: readonly string[], other: readonly string[]): boolean {
  return one.join('.') === other.join('.')
}

/** The calls of one side, with failures that say what to do. */
function kmsOf({ key, label, location }: OpenKms, role: string, side: string) {
  const { kms } = key
  const who = `The KMS of the ${role} (${label}, ${location})`

  async function call<T>(action: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw new Failure('failed', `${who} ${explanation(action, side, error)}`, { cause: error })
    }
  }

  const decrypt = ({ blob, context, arn = key.arn }: WrappedPart) =>
    kms.decrypt({ KeyId: arn, CiphertextBlob: blob, EncryptionContext: context })

  return {
    async decrypt(part: WrappedPart): Promise<Uint8Array> {
      return (await call('Decrypt', () => decrypt(part))).Plaintext
    },

    /** Undefined if it is not what this KMS encrypted with this context. */
    async open(part: WrappedPart): Promise<Uint8Array | undefined> {
      try {
        return (await decrypt(part)).Plaintext
      } catch (error) {
        if (isForeign(error)) return undefined
        return call('Decrypt', () => Promise.reject(error))
      }
    },

    async encrypt(plaintext: Uint8Array, context: WrappedPart['context']): Promise<Uint8Array> {
      const input = { KeyId: key.arn, Plaintext: plaintext, EncryptionContext: context }
      return (await call('Encrypt', () => kms.encrypt(input))).CiphertextBlob
    },

    async reEncrypt(
      { blob, context, arn = key.arn }: WrappedPart,
      to: Required<Pick<WrappedPart, 'arn' | 'context'>>,
    ): Promise<Uint8Array> {
      const input = {
        CiphertextBlob: blob,
        SourceKeyId: arn,
        SourceEncryptionContext: context,
        DestinationKeyId: to.arn,
        DestinationEncryptionContext: to.context,
      }
      return (await call('ReEncrypt', () => kms.reEncrypt(input))).CiphertextBlob
    },

    async isAuthentic(part: WrappedPart): Promise<boolean> {
      const { blob, context, arn = key.arn } = part
      try {
        await kms.reEncrypt({
          CiphertextBlob: blob,
          SourceKeyId: arn,
          SourceEncryptionContext: context,
          DestinationKeyId: arn,
          DestinationEncryptionContext: context,
        })
        return true
      } catch (error) {
        if (isForeign(error)) return false
        return call('ReEncrypt', () => Promise.reject(error))
      }
    },
  }
}

function isForeign(error: unknown): boolean {
  return isNamed(error, 'InvalidCiphertextException', 'IncorrectKeyException')
}

const ACTIONS: Readonly<Record<string, string>> = {
  ReEncrypt: 'kms:ReEncryptFrom and kms:ReEncryptTo',
}

function explanation(action: string, side: string, error: unknown): string {
  if (isForeign(error) || isNamed(error, 'NotFoundException'))
    return `cannot open what is stored: another KMS key wrapped it, or it was altered. Check --${side}-kms, --${side}-key and --${side}-master-key.`
  if (isNamed(error, 'AccessDeniedException'))
    return `refused ${action}. Allow ${ACTIONS[action] ?? `kms:${action}`} on the key. ${CONTINUE}`
  if (isNamed(error, 'DisabledException', 'KMSInvalidStateException'))
    return `cannot use its key, which is disabled or about to be deleted. Enable it. ${CONTINUE}`
  return `failed (${failureReason(error)}). Check that it can be reached. ${CONTINUE}`
}
