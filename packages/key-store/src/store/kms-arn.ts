/** ARNs of KMS keys. A key store knows keys by these alone: an alias may move to another key. */

export interface KeyArn {
  partition: string
  region: string
  account: string
  keyId: string
}

const KEY_ARN = /^arn:([^:\s]+):kms:([^:\s]+):([^:\s]+):key\/([^:\s]+)$/
const ALIAS_ARN = /^arn:[^:]*:kms:[^:]*:[^:]*:alias\//
const MAX_ARN_LENGTH = 2048

/** The parts of a key ARN; undefined of anything else, such as a bare key id. */
export function parseKeyArn(text: string): KeyArn | undefined {
  const [, partition, region, account, keyId] = KEY_ARN.exec(text) ?? []
  if (!partition || !region || !account || !keyId || text.length > MAX_ARN_LENGTH) return undefined
  return { partition, region, account, keyId }
}

export function isAliasArn(text: string): boolean {
  return ALIAS_ARN.test(text)
}

/** Whether both are the same multi-Region key, in whichever regions. */
export function areReplicas(one: KeyArn, other: KeyArn): boolean {
  return isMultiRegion(one) && keyArn({ ...one, region: other.region }) === keyArn(other)
}

export function isMultiRegion({ keyId }: KeyArn): boolean {
  return keyId.startsWith('mrk-')
}

export function keyArn({ partition, region, account, keyId }: KeyArn): string {
  return `arn:${partition}:kms:${region}:${account}:key/${keyId}`
}
