/**
 * The keys of a KMS at its location: finds them, checks whether they can be used, and caches their
 * material.
 *
 * The record of a key is read on every call, so a key that another process disabled is rejected
 * immediately. Material never changes, so it is unwrapped once and cached. It is not overwritten when it
 * is dropped, because a running call may still be using it.
 */
import type { KeyObject } from 'node:crypto'
import { arnAt, isKeyId, keyArn, type Location } from './arn.ts'
import { disabled, invalidState, notFound, validationError } from './errors.ts'
import type { KeyRecord, KeyStorage } from './key-storage.ts'
import type { Wrapping } from './master-key/key.ts'

/** A stored key with its ARN at this location. */
export interface FoundKey {
  readonly arn: string
  readonly record: KeyRecord
}

export interface Keys {
  /** Finds a key by ARN or bare id; throws NotFoundException. */
  find(keyId: string): Promise<FoundKey>
  /** Finds a key by the bare id in a blob. */
  lookUp(id: string): Promise<FoundKey | undefined>
  list(): Promise<FoundKey[]>
  /** The material of an existing version of the key. */
  material(key: FoundKey, version: number): Promise<KeyObject>
  /** The material of the version that encrypts. */
  currentMaterial(key: FoundKey): Promise<KeyObject>
}

interface KeysOptions {
  storage: KeyStorage
  wrapping: Wrapping
  location: Location
}

export function createKeys({ storage, wrapping, location }: KeysOptions): Keys {
  const materials = new Map<string, Map<number, KeyObject>>()

  /** Undefined for a key of another location. */
  const atLocation = (record: KeyRecord): FoundKey | undefined => {
    const arn = arnAt(location, record)
    return arn === undefined ? undefined : { arn, record }
  }

  const lookUp = async (id: string): Promise<FoundKey | undefined> => {
    const record = await storage.load(id)
    if (!record) materials.delete(id)
    return record && atLocation(record)
  }

  const material = async ({ arn, record }: FoundKey, version: number) => {
    const known = materials.get(record.id)?.get(version)
    if (known) return known
    const stored = await storage.loadVersion(record.id, version)
    if (!stored) {
      throw invalidState(`Stored material of ${arn} is missing: restore it from a backup`)
    }
    const unwrapped = wrapping.unwrap(record.id, version, stored.wrapped)
    if (!unwrapped) {
      throw invalidState(
        Buffer.compare(record.masterKeyCheck, wrapping.check) === 0
          ? `Stored material of ${arn} is damaged: restore it from a backup`
          : wrongMasterKey(arn),
      )
    }
    const versions = materials.get(record.id) ?? new Map<number, KeyObject>()
    materials.set(record.id, versions.set(version, unwrapped))
    return unwrapped
  }

  return {
    lookUp,

    async find(keyId) {
      const id = bareId(keyId, location)
      const found = await lookUp(id)
      if (!found) throw notFound(`Key '${keyArn(location, id)}' does not exist`)
      return found
    },

    async list() {
      return (await storage.list()).map(atLocation).filter((key) => key !== undefined)
    },

    material,

    currentMaterial: (key) => material(key, key.record.currentVersion),
  }
}

/** After a change of the master key, a process continues with its cached material. */
function wrongMasterKey(arn: string): string {
  return `${arn} belongs to another master key: start this process again if it was changed, or with that one`
}

/** A key whose deletion date has passed is still pending deletion: only the sweep deletes it. */
export function requireUsable({ arn, record }: FoundKey): void {
  if (record.state === 'PendingDeletion') throw invalidState(`${arn} is pending deletion`)
  if (record.state === 'Disabled') throw disabled(arn)
}

/** Throws unless this master key wraps the key now, even if its material is cached. */
export function requireWrappedBy({ check }: Wrapping, { arn, record }: FoundKey): void {
  if (Buffer.compare(record.masterKeyCheck, check) !== 0) throw invalidState(wrongMasterKey(arn))
}

/** The id in a KeyId; undefined if it belongs to another location. */
function bareId(keyId: string, location: Location): string {
  if (isKeyId(keyId)) return keyId
  if (keyId.startsWith('alias/') || /^arn:[^:]*:kms:[^:]*:[^:]*:alias\//.test(keyId)) {
    throw notFound('This KMS has no aliases: give the ARN or the id of a key')
  }
  if (!keyId.startsWith('arn:')) {
    throw validationError('KeyId must be the ARN or the id of a key')
  }
  const id = keyId.slice(keyId.lastIndexOf('/') + 1)
  if (keyId === keyArn(location, id) && isKeyId(id)) return id
  const [, partition, service, region, account, resource] = keyId.split(':')
  if (service !== 'kms' || !resource?.startsWith('key/')) {
    throw validationError('KeyId must be the ARN or the id of a key')
  }
  const here = `${location.partition}:${location.region}:${location.account}`
  throw notFound(
    here === `${partition}:${region}:${account}`
      ? 'No key has this ARN'
      : `The ARN is of another partition, region or account: this KMS is ${here}`,
  )
}
