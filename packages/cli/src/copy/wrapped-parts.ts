/** Which parts of items KMS has wrapped directly. Everything else is sealed under branch keys, or not secret. */
import { BranchKeyItem, isBranchKeyType } from '@strongroom/key-store/store/item'
import { fromItem } from '@strongroom/key-store/store/encrypted-key'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from '@strongroom/key-store/tables'
import type { Item, Value } from '@strongroom/kit/db'
import { Failure } from '@strongroom/kit/errors'
import type { EncryptionContext } from '@strongroom/kit/kms'
import { secretContext } from '@strongroom/kit/secret-versions'
import { serverTable } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { totpContext } from '@strongroom/server/sessions/second-factors'
import { isServerSecret, textOf } from './scope.ts'

export interface WrappedPart {
  /** The names that lead to the ciphertext. */
  path: readonly string[]
  blob: Uint8Array
  context: EncryptionContext
  /** The KMS key that the item names; undefined if it names none. */
  arn?: string
}

/** Throws if a branch key is in a state that cannot be copied. */
export function wrappedParts(table: Table, item: Item): WrappedPart[] {
  if (table === branchKeysTable) return branchKeyParts(item)
  if (isServerSecret(table, item)) {
    const context = secretContext({ name: textOf(item['name']), version: Number(item['version']) })
    return partOf(item, ['sealed'], context)
  }
  if (table === serverTable && item['SK'] === 'SECOND_FACTOR') {
    const context = totpContext(textOf(item['PK']).slice('OPERATOR#'.length))
    const paths = [
      ['totp', 'sealed'],
      ['newTotp', 'sealed'],
    ]
    return paths.flatMap((path) => partOf(item, path, context))
  }
  return []
}

/** Every attribute is authenticated, also the ARN of the key, so the context changes with the key. */
function branchKeyParts(item: Item): WrappedPart[] {
  const { type } = item
  if (typeof type === 'string' && type.startsWith('branch:MUTATION_')) {
    throw new Failure(
      'failed',
      "A branch key is being moved to another KMS key by one of AWS's libraries: finish that first, with the library that began it",
    )
  }
  // Other programs may have items of their own under the same id.
  if (!isBranchKeyType(type)) return []
  const parsed = BranchKeyItem.safeParse(item)
  if (!parsed.success) {
    throw new Failure(
      'failed',
      'A branch key of the source is damaged: "strongroom keys list" and "strongroom keys show ID" find it; restore it from a backup',
    )
  }
  const key = fromItem(parsed.data, LOGICAL_KEY_STORE_NAME)
  const { ciphertextBlob: blob, encryptionContext: context, kmsArn: arn } = key
  return [{ path: ['enc'], blob, context, arn }]
}

function partOf(item: Item, path: readonly string[], context: EncryptionContext): WrappedPart[] {
  let value: Value | undefined = item
  for (const name of path) value = (value as Item | undefined)?.[name]
  return value instanceof Uint8Array ? [{ path, blob: value, context }] : []
}

/** The item with other ciphertexts, without them if they are undefined, and naming this KMS key. */
export function replaceParts(
  table: Table,
  item: Item,
  arn: string,
  replacements: readonly { path: readonly string[]; blob: Uint8Array | undefined }[],
): Item {
  const named = table === branchKeysTable ? { ...item, 'kms-arn': arn } : item
  return replacements.reduce<Item>(
    (changed, { path, blob }) => replaceAt(changed, path, blob),
    named,
  )
}

function replaceAt(item: Item, [name = '', ...rest]: readonly string[], blob?: Uint8Array): Item {
  const { [name]: before, ...others } = item
  if (rest.length > 0) return { ...others, [name]: replaceAt(before as Item, rest, blob) }
  return blob === undefined ? others : { ...others, [name]: blob }
}
