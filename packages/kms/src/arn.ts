/**
 * The location of a KMS (partition, region, account), and the ARNs of its keys.
 *
 * A multi-Region key has the same id and material in every region and an ARN in each of them.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { KeyRecord } from './key-storage.ts'

export interface Location {
  readonly partition: string
  readonly region: string
  readonly account: string
}

export const LOCAL: Location = { partition: 'local', region: 'local', account: '000000000000' }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const MULTI_REGION = /^mrk-[0-9a-f]{32}$/

export function newKeyId({ multiRegion }: { multiRegion: boolean }): string {
  return multiRegion ? `mrk-${randomBytes(16).toString('hex')}` : randomUUID()
}

export function isKeyId(text: string): boolean {
  return UUID.test(text) || MULTI_REGION.test(text)
}

export function isMultiRegion(id: string): boolean {
  return id.startsWith('mrk-')
}

export function keyArn({ partition, region, account }: Location, id: string): string {
  return `arn:${partition}:kms:${region}:${account}:key/${id}`
}

/** The ARN of a stored key at this location; undefined for a key of another location. */
export function arnAt(location: Location, { id, arn }: KeyRecord): string | undefined {
  const here = keyArn(location, id)
  if (here === arn) return arn
  const home = arn.split(':')[3] ?? ''
  return isMultiRegion(id) && keyArn({ ...location, region: home }, id) === arn ? here : undefined
}
