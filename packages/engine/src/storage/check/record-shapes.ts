// The shapes of the records in the catalog, for a check that must not trust them.

import type { BackupRecord } from '../backups/backup-records.ts'
import type { Position } from '../changes/changes.ts'
import type { StreamRecord } from '../changes/streams.ts'
import type { Count } from '../counts.ts'
import type { Job } from '../jobs/jobs.ts'
import type { TableRecord, TokenRecord } from '../storage.ts'

type Fields = Readonly<Record<string, unknown>>

const MAX_ID = 2 ** 32 - 1
const VIEWS = ['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES']

export function isTable(value: unknown): value is TableRecord {
  return (
    isObject(value) &&
    typeof value['name'] === 'string' &&
    isId(value['id']) &&
    isCount(value['version']) &&
    isCount(value['createdAt']) &&
    isKeySchema(value['keys']) &&
    isListOf(value['indexes'], isIndex) &&
    (value['ttl'] === undefined || isTtl(value['ttl'])) &&
    (value['logs'] === undefined || isListOf(value['logs'], isLog))
  )
}

function isIndex(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['name'] === 'string' &&
    isId(value['id']) &&
    isOneOf(value['kind'], ['global', 'local']) &&
    isOneOf(value['status'], ['CREATING', 'ACTIVE']) &&
    isKeySchema(value['keys']) &&
    isProjection(value['projection'])
  )
}

function isProjection(value: unknown): boolean {
  if (!isObject(value)) return false
  const { type, attributes } = value
  return (
    isOneOf(type, ['ALL', 'KEYS_ONLY', 'INCLUDE']) &&
    (attributes === undefined || isListOf(attributes, (name) => typeof name === 'string'))
  )
}

function isKeySchema(value: unknown): boolean {
  if (!isObject(value)) return false
  return isKey(value['partition']) && (value['sort'] === undefined || isKey(value['sort']))
}

function isKey(value: unknown): boolean {
  return (
    isObject(value) && typeof value['name'] === 'string' && isOneOf(value['type'], ['S', 'N', 'B'])
  )
}

function isTtl(value: unknown): boolean {
  return isObject(value) && typeof value['attribute'] === 'string' && isId(value['id'])
}

function isLog(value: unknown): boolean {
  return (
    isObject(value) &&
    isId(value['id']) &&
    isOneOf(value['kind'], ['stream', 'recovery', 'copy']) &&
    isOneOf(value['view'], VIEWS) &&
    isCount(value['keepMs']) &&
    isCount(value['createdAt'])
  )
}

export function isStream(value: unknown): value is StreamRecord {
  if (!isObject(value)) return false
  const { closed } = value
  return (
    isId(value['id']) &&
    typeof value['tableName'] === 'string' &&
    typeof value['label'] === 'string' &&
    isKeySchema(value['keys']) &&
    isOneOf(value['view'], VIEWS) &&
    ['createdAt', 'keepMs', 'start', 'trimmed'].every((name) => isCount(value[name])) &&
    (closed === undefined ||
      (isObject(closed) && isCount(closed['at']) && isCount(closed['sequence'])))
  )
}

export function isBackup(value: unknown): value is BackupRecord {
  if (!isObject(value)) return false
  const { space, expiresAt } = value
  return (
    isId(value['id']) &&
    typeof value['name'] === 'string' &&
    isOneOf(value['type'], ['USER', 'SYSTEM']) &&
    isOneOf(value['status'], ['CREATING', 'AVAILABLE']) &&
    ['createdAt', 'items', 'bytes'].every((name) => isCount(value[name])) &&
    (expiresAt === undefined || isCount(expiresAt)) &&
    isTable(value['table']) &&
    isTable(space) &&
    space.id === value['id']
  )
}

export function isJob(value: unknown): value is Job {
  if (!isObject(value)) return false
  const { after } = value
  if (after !== undefined && typeof after !== 'string') return false
  switch (value['kind']) {
    case 'fill':
      return isId(value['table']) && isId(value['owner'])
    case 'encrypt':
      return isId(value['table'])
    case 'remove':
      return isId(value['id']) && isOneOf(value['space'], ['items', 'entries', 'changes'])
    case 'copy':
      return (
        isId(value['source']) &&
        isId(value['target']) &&
        isCount(value['from']) &&
        (value['log'] === undefined || isId(value['log'])) &&
        (value['undoTo'] === undefined || isCount(value['undoTo']))
      )
    default:
      return false
  }
}

/** A record about the slots of keys: `item-keys.ts` lists its kinds. */
export function isSlotRecord(key: string | readonly (string | number)[], value: unknown): boolean {
  switch (key[1]) {
    case 'next':
      return isCount(value)
    case 'free':
    case 'erase':
      return isSlotList(value)
    case 'owner':
      return (
        isObject(value) &&
        isCount(value['pid']) &&
        isCount(value['commit']) &&
        isSlotList(value['slots'])
      )
    default:
      return false
  }
}

function isSlotList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isCount)
}

/** Whether it is a stored count of items. */
export function isCounted(value: unknown): value is Count {
  return isObject(value) && isCount(value['items']) && isCount(value['bytes'])
}

export function isToken(value: unknown): value is TokenRecord {
  return isObject(value) && typeof value['hash'] === 'string' && isCount(value['expiresAt'])
}

export function isPosition(value: unknown): value is Position {
  return isObject(value) && isCount(value['sequence']) && isCount(value['at'])
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(value: unknown): boolean {
  return isCount(value) && Number(value) >= 1 && Number(value) <= MAX_ID
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isOneOf(value: unknown, known: readonly string[]): boolean {
  return typeof value === 'string' && known.includes(value)
}

function isListOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((member) => isMember(member))
}
