// Checks the changes in the logs of tables and streams: each belongs to a log, has the images that the log
// stores, of the item that it names, and none is newer than the last one. Times never decrease.

import { equal } from '../../values/compare.ts'
import { attribute, type Item, type Value } from '../../values/types.ts'
import type { FastBuffer } from '../lmdb/bytes.ts'
import type { ImageView, KeySchema } from '../storage.ts'
import type { CatalogContents } from './catalog.ts'

const KEY_BYTES = 12

interface Log {
  name: string
  keys: KeySchema
  view: ImageView
  /** Changes have higher sequence numbers. */
  after: number
  /** The time of the change before. */
  at: number
}

export class ChangeCheck {
  readonly #logs = new Map<number, Log>()
  readonly #last: number

  constructor({ tables, streams, last }: CatalogContents) {
    this.#last = last.sequence
    for (const { name, keys, logs = [] } of tables) {
      for (const { id, kind, view } of logs) {
        const what = kind === 'recovery' ? 'the recovery log' : 'a log'
        this.#logs.set(id, { name: `${what} of table "${name}"`, keys, view, after: 0, at: 0 })
      }
    }
    // Streams outlive their tables.
    for (const { id, tableName, keys, view, trimmed } of streams) {
      const name = `the stream of table "${tableName}"`
      this.#logs.set(id, { name, keys, view, after: trimmed, at: 0 })
    }
  }

  /** What is wrong with a change; undefined if nothing. */
  problem(key: FastBuffer, change: Item): string | undefined {
    const id = key.readUInt32BE(0)
    const log = this.#logs.get(id)
    if (log === undefined) return `A change belongs to no table or stream (id ${id})`
    const sequence = key.length === KEY_BYTES ? Number(key.readBigUInt64BE(4)) : 0
    if (sequence <= log.after || sequence > this.#last) {
      return `A change in ${log.name} has a wrong number`
    }
    const { at } = change
    if (typeof at !== 'number' || at < log.at) {
      return `A change in ${log.name} has no time, or that of an earlier one`
    }
    log.at = at
    return isWhole(change, log) ? undefined : `A change in ${log.name} is incomplete`
  }
}

function isWhole(change: Item, { keys, view }: Log): boolean {
  const kind = attribute(change, 'kind')
  const named = attribute(change, 'keys')
  if (!isMap(named) || !hasKeys(named, keys)) return false
  const hasOld = kind !== 'INSERT' && (view === 'OLD_IMAGE' || view === 'NEW_AND_OLD_IMAGES')
  const hasNew = kind !== 'REMOVE' && (view === 'NEW_IMAGE' || view === 'NEW_AND_OLD_IMAGES')
  return (
    (kind === 'INSERT' || kind === 'MODIFY' || kind === 'REMOVE') &&
    isImage(attribute(change, 'old'), hasOld, named) &&
    isImage(attribute(change, 'new'), hasNew, named)
  )
}

/** An image that is missing, or that of the named item. */
function isImage(image: Value | undefined, isStored: boolean, named: Item): boolean {
  if (!isStored) return image === undefined
  if (!isMap(image)) return false
  return Object.keys(named).every((name) => {
    const own = attribute(image, name)
    return own !== undefined && equal(own, named[name]!)
  })
}

function hasKeys(named: Item, { partition, sort }: KeySchema): boolean {
  const names = sort === undefined ? [partition.name] : [partition.name, sort.name]
  return names.every((name) => attribute(named, name) !== undefined)
}

function isMap(value: Value | undefined): value is Item {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  )
}
