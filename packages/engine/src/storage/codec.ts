// Encodes items as bytes: a version byte, then one attribute map. The format is compact, self-delimiting
// and has no schema. Attribute names are interned while decoding. ASCII texts are marked, because they
// decode several times faster. A number is an int32, a double, or decimal text if a double cannot hold
// it. Decoded values never share memory with their bytes.

import { type Member, sortedSet } from '../values/sets.ts'
import { attributeSize, CONTAINER_BYTES, ENTRY_BYTES, numberSize } from '../values/size.ts'
import { NumberValue, setAttribute, type Item, type SetValue, type Value } from '../values/types.ts'
import { allocate, latin1Slice, utf8Slice, type FastBuffer } from './lmdb/bytes.ts'

export const CODEC_VERSION = 1

export const NULL = 0
export const FALSE = 1
export const TRUE = 2
export const INT8 = 3
export const INT32 = 4
export const DOUBLE = 5
export const DECIMAL = 6
export const ASCII8 = 7
export const UTF8 = 8
export const ASCII32 = 9
export const BYTES8 = 10
export const BYTES32 = 11
export const LIST = 12
export const MAP = 13
export const STRING_SET = 14
export const NUMBER_SET = 15
export const BINARY_SET = 16

export const LONG_NAME = 255

/** Deeper than any valid value; protects the stack from corrupt or unchecked ones. */
export const MAX_DEPTH = 100

const MIN_VIEWED_BYTES = 256

const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

/** The bytes of an encoded item that become a map. */
export interface EncodedMap {
  name: string
  start: number
  end: number
}

/** An item of which some attributes were not decoded. */
export interface DecodedParts {
  item: Item
  /** Of all attributes. */
  names: string[]
  /** Undefined for those that were not decoded. */
  values: (Value | undefined)[]
  /** Where each attribute begins, from the start of the item, and at last where the item ends. */
  starts: number[]
  /** The size of what was not decoded, as DynamoDB counts it. */
  skippedSize: number
}

/** Encodes items one after the other into a growing buffer; offsets stay valid until `reset`. */
export class ItemWriter {
  bytes: FastBuffer = allocate(0x10000)
  position = 0
  /** The size of the last item as DynamoDB counts it, which costs little to add up here. */
  itemSize = 0

  reset(): void {
    this.position = 0
    if (this.bytes.length > 0x200000) this.bytes = allocate(0x10000)
  }

  reserve(size: number): void {
    if (this.position + size <= this.bytes.length) return
    const grown = allocate(Math.max(this.bytes.length * 2, this.position + size))
    this.bytes.copy(grown, 0, 0, this.position)
    this.bytes = grown
  }

  item(item: Item): void {
    this.#begin()
    this.#map(item, 0)
  }

  /** Appends bytes and returns where they start. */
  append(bytes: Uint8Array): number {
    const { length } = bytes
    this.reserve(length)
    const { bytes: target, position: start } = this
    this.position = start + length
    // The bytes of a read are the beginning of a longer buffer. A view of it costs more than this loop.
    if (length < MIN_VIEWED_BYTES) for (let i = 0; i < length; i++) target[start + i] = bytes[i]!
    else target.set(bytes.subarray(0, length), start)
    return start
  }

  /** An item with further attributes, each of which is a map: an item that is encoded in this buffer. */
  itemWith(item: Item, maps: readonly EncodedMap[]): void {
    this.#begin()
    this.#map(item, 0, maps.length)
    for (const { name, start, end } of maps) {
      this.#name(name)
      this.reserve(1)
      this.bytes[this.position++] = MAP
      // Without the version.
      this.#copy(start + 1, end)
    }
  }

  /**
   * Encodes a changed copy of an item whose bytes begin at `start` in this buffer. Only attributes that
   * are not identical in both are encoded; the others, and those that were not decoded, are copied.
   * Returns by how much the size has changed.
   */
  changed({ item: old, names, values, starts }: DecodedParts, start: number, item: Item): number {
    this.#begin()
    const countAt = this.position
    this.#count(0)
    const newNames = Object.keys(item)
    let count = 0
    let decoded = 0
    let removedSize = 0
    /** Where the attributes that are copied together begin. */
    let from = starts[0]!
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!
      const value = values[i]
      if (value === undefined || item[name] === value) {
        if (value !== undefined) decoded++
        count++
        continue
      }
      this.#copy(start + from, start + starts[i]!)
      from = starts[i + 1]!
      removedSize += attributeSize(old, name)
      if (!Object.hasOwn(item, name)) continue
      this.#attribute(name, item[name]!)
      decoded++
      count++
    }
    this.#copy(start + from, start + starts[names.length]!)
    if (newNames.length > decoded) {
      for (const name of newNames) {
        if (Object.hasOwn(old, name)) continue
        this.#attribute(name, item[name]!)
        count++
      }
    }
    const end = this.position
    this.position = countAt
    this.#uint32(count)
    this.position = end
    return this.itemSize - removedSize
  }

  #attribute(name: string, value: Value): void {
    this.#name(name)
    this.#value(value, 0)
  }

  #begin(): void {
    this.reserve(16)
    this.bytes[this.position++] = CODEC_VERSION
    this.itemSize = 0
  }

  #copy(start: number, end: number): void {
    if (start === end) return
    this.reserve(end - start)
    this.bytes.copyWithin(this.position, start, end)
    this.position += end - start
  }

  #map(map: Item, depth: number, further = 0): void {
    // In a parsed map every enumerable property is an own one; keys() also skips inherited ones.
    const names = Object.keys(map)
    if (depth > 0) this.itemSize += CONTAINER_BYTES + ENTRY_BYTES * names.length
    this.#count(names.length + further)
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!
      this.#name(name)
      this.#value(map[name]!, depth)
    }
  }

  #count(count: number): void {
    this.reserve(4)
    this.#uint32(count)
  }

  #uint32(value: number): void {
    const bytes = this.bytes
    const position = this.position
    bytes[position] = value >>> 24
    bytes[position + 1] = value >>> 16
    bytes[position + 2] = value >>> 8
    bytes[position + 3] = value
    this.position = position + 4
  }

  #name(name: string): void {
    const length = name.length
    this.reserve(length * 3 + 5)
    const bytes = this.bytes
    const start = this.position + 1
    if (length < 64) {
      let i = 0
      for (; i < length; i++) {
        const code = name.charCodeAt(i)
        if (code > 127) break
        bytes[start + i] = code
      }
      if (i === length) {
        bytes[this.position] = length
        this.position = start + length
        this.itemSize += length
        return
      }
    }
    const size = Buffer.byteLength(name)
    this.itemSize += size
    if (size < LONG_NAME) {
      bytes[this.position] = size
      this.position = start + bytes.utf8Write(name, start)
    } else {
      bytes[this.position++] = LONG_NAME
      this.#uint32(size)
      this.position += bytes.utf8Write(name, this.position)
    }
  }

  #value(value: Value, depth: number): void {
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        return this.#number(value)
      case 'boolean':
        this.reserve(1)
        this.bytes[this.position++] = value ? TRUE : FALSE
        this.itemSize += 1
        return
      case 'object':
        return this.#object(value, depth + 1)
      default:
        throw new TypeError(`Cannot encode a value of type ${typeof value}`)
    }
  }

  #text(text: string): void {
    const length = text.length
    this.reserve(length * 3 + 5)
    const bytes = this.bytes
    if (length < 48) {
      const start = this.position + 2
      let i = 0
      for (; i < length; i++) {
        const code = text.charCodeAt(i)
        if (code > 127) break
        bytes[start + i] = code
      }
      if (i === length) {
        bytes[this.position] = ASCII8
        bytes[this.position + 1] = length
        this.position = start + length
        this.itemSize += length
        return
      }
    }
    const size = bytes.utf8Write(text, this.position + 5)
    bytes[this.position++] = size === length ? ASCII32 : UTF8
    this.#uint32(size)
    this.position += size
    this.itemSize += size
  }

  #number(value: number): void {
    this.reserve(9)
    const bytes = this.bytes
    const position = this.position
    if (value === (value | 0)) {
      this.itemSize += numberSize(value)
      // This also turns -0 into 0.
      if (value >= -128 && value <= 127) {
        bytes[position] = INT8
        bytes[position + 1] = value
        this.position = position + 2
      } else {
        bytes[position] = INT32
        this.position = position + 1
        this.#uint32(value)
      }
      return
    }
    if (!Number.isFinite(value)) throw new TypeError(`Cannot encode the number ${value}`)
    this.itemSize += numberSize(value)
    double[0] = value
    bytes[position] = DOUBLE
    for (let i = 0; i < 8; i++) bytes[position + 1 + i] = doubleBytes[i]!
    this.position = position + 9
  }

  #object(value: Exclude<Value, string | number | boolean>, depth: number): void {
    this.reserve(16)
    if (value === null) {
      this.bytes[this.position++] = NULL
      this.itemSize += 1
    } else if (depth > MAX_DEPTH) {
      throw new TypeError(`Cannot encode a value nested deeper than ${MAX_DEPTH} levels`)
    } else if (Array.isArray(value)) {
      this.bytes[this.position++] = LIST
      this.itemSize += CONTAINER_BYTES + ENTRY_BYTES * value.length
      this.#count(value.length)
      for (let i = 0; i < value.length; i++) this.#value(value[i]!, depth)
    } else if (value instanceof Uint8Array) {
      this.#binary(value)
    } else if (value instanceof NumberValue) {
      this.bytes[this.position++] = DECIMAL
      const size = this.itemSize + numberSize(value)
      this.#name(value.value)
      this.itemSize = size
    } else if (value instanceof Set) {
      this.#set(value, depth)
    } else {
      this.bytes[this.position++] = MAP
      this.#map(value, depth)
    }
  }

  #binary(value: Uint8Array): void {
    const size = value.length
    this.reserve(size + 5)
    if (size < 256) {
      this.bytes[this.position++] = BYTES8
      this.bytes[this.position++] = size
    } else {
      this.bytes[this.position++] = BYTES32
      this.#uint32(size)
    }
    this.bytes.set(value, this.position)
    this.position += size
    this.itemSize += size
  }

  #set(set: Set<string> | Set<number | NumberValue> | Set<Uint8Array>, depth: number): void {
    const tag = this.position++
    this.bytes[tag] = STRING_SET
    this.#count(set.size)
    let kind = STRING_SET
    for (const member of set) {
      if (typeof member !== 'string') kind = member instanceof Uint8Array ? BINARY_SET : NUMBER_SET
      this.#value(member, depth)
    }
    this.bytes[tag] = kind
  }
}

// Reads after the end of the bytes return undefined and make the position NaN, so bounds are checked as
// `!(at <= length)`.
let source: Uint8Array = new Uint8Array(0)
let at = 0
let limit = 0

/** Throws on bytes that are not an item; the bytes may be overwritten afterwards. */
export function decodeItem(bytes: Uint8Array, start = 0, end = bytes.length): Item {
  beginItem(bytes, start, end)
  const item = readMap(0)
  if (!(at <= limit)) throw corrupt('an item ends too early')
  return item
}

/** Decodes only the attributes in one of two collections of names; otherwise like `decodeItem`. */
export function decodeParts(
  bytes: Uint8Array,
  wanted: ReadonlySet<string>,
  more: readonly string[],
  start = 0,
  end = bytes.length,
): DecodedParts {
  beginItem(bytes, start, end)
  const count = readCount()
  const item: Item = {}
  const names: string[] = []
  const values: (Value | undefined)[] = []
  const starts: number[] = []
  let skippedSize = 0
  for (let i = 0; i < count; i++) {
    const nameStart = at
    const name = readName()
    let value: Value | undefined
    if (wanted.has(name) || more.includes(name)) {
      value = readValue(0)
      if (name === '__proto__') setAttribute(item, name, value)
      else item[name] = value
    } else skippedSize += nameSize(nameStart, at) + skipValue(0)
    names.push(name)
    values.push(value)
    starts.push(nameStart - start)
  }
  if (!(at <= limit)) throw corrupt('an item ends too early')
  starts.push(at - start)
  return { item, names, values, starts, skippedSize }
}

function beginItem(bytes: Uint8Array, start: number, end: number): void {
  if (bytes[start] !== CODEC_VERSION) throw corrupt(`unknown item version ${bytes[start]}`)
  source = bytes
  at = start + 1
  limit = end
}

function nameSize(start: number, end: number): number {
  return end - start - (source[start] === LONG_NAME ? 5 : 1)
}

/** Returns the size of the value as DynamoDB counts it. */
function skipValue(depth: number): number {
  const tag = source[at]
  switch (tag) {
    case ASCII8:
    case BYTES8:
      at++
      return skip(source[at++]!)
    case ASCII32:
    case UTF8:
    case BYTES32:
      at++
      return skip(readCount())
    case NULL:
    case FALSE:
    case TRUE:
      at++
      return 1
    case INT8:
    case INT32:
    case DOUBLE:
    case DECIMAL:
      return numberSize(readValue(depth) as number | NumberValue)
    default:
      at++
      return skipCollection(tag, depth + 1)
  }
}

function skip(size: number): number {
  at += size
  if (!(at <= limit)) throw corrupt('a text ends too early')
  return size
}

function skipCollection(tag: number | undefined, depth: number): number {
  if (depth > MAX_DEPTH) throw corrupt('a value is nested too deep')
  if (tag === undefined || tag < LIST || tag > BINARY_SET) throw corrupt(`unknown value tag ${tag}`)
  const count = readCount()
  const isSet = tag !== LIST && tag !== MAP
  let size = isSet ? 0 : CONTAINER_BYTES + ENTRY_BYTES * count
  for (let i = 0; i < count; i++) {
    if (tag === MAP) size += skipName()
    size += skipValue(depth)
  }
  return size
}

function skipName(): number {
  const length = source[at++]!
  return skip(length === LONG_NAME ? readCount() : length)
}

export function corrupt(detail: string): Error {
  return new Error(`Cannot decode stored item: ${detail}`)
}

function readUint32(): number {
  const bytes = source
  const value =
    ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
  at += 4
  return value
}

function readCount(): number {
  const count = readUint32()
  if (count > limit) throw corrupt(`impossible count ${count}`)
  return count
}

function readMap(depth: number): Item {
  const count = readCount()
  const map: Item = {}
  for (let i = 0; i < count; i++) {
    const name = readName()
    if (name === '__proto__') setAttribute(map, name, readValue(depth))
    else map[name] = readValue(depth)
  }
  return map
}

const INTERNED = 2048
const interned: string[] = Array.from({ length: INTERNED }, () => '')

function readName(): string {
  const bytes = source
  const length = bytes[at++]!
  if (length > 40) return readLongName(length)
  const start = at
  const end = (at = start + length)
  if (!(end <= limit)) throw corrupt('a name ends too early')
  let hash = length
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0
  const slot = (hash ^ (hash >>> 11)) & (INTERNED - 1)
  const known = interned[slot]!
  if (known.length === length) {
    let i = 0
    while (i < length && known.charCodeAt(i) === bytes[start + i]) i++
    if (i === length) return known
  }
  const name = utf8Slice.call(bytes, start, end)
  // Only names of one byte per character can be compared as above.
  if (name.length === length) interned[slot] = name
  return name
}

function readLongName(length: number): string {
  return readText(utf8Slice, length === LONG_NAME ? readCount() : length)
}

function readValue(depth: number): Value {
  const tag = source[at++]
  switch (tag) {
    case ASCII8:
      return readText(latin1Slice, source[at++]!)
    case ASCII32:
      return readText(latin1Slice, readCount())
    case UTF8:
      return readText(utf8Slice, readCount())
    case INT8:
      return (source[at++]! << 24) >> 24
    case INT32:
      return readUint32() | 0
    case DOUBLE:
      for (let i = 0; i < 8; i++) doubleBytes[i] = source[at + i]!
      at += 8
      return double[0]!
    case NULL:
      return null
    case FALSE:
      return false
    case TRUE:
      return true
    case DECIMAL:
      return new NumberValue(readName())
    case BYTES8:
      return readBytes(source[at++]!)
    case BYTES32:
      return readBytes(readCount())
    default:
      return readCollection(tag, depth + 1)
  }
}

function readText(slice: typeof utf8Slice, size: number): string {
  const start = at
  at += size
  if (!(at <= limit)) throw corrupt('a text ends too early')
  return slice.call(source, start, at)
}

function readBytes(size: number): Uint8Array {
  const start = at
  at += size
  if (!(at <= limit)) throw corrupt('a binary ends too early')
  return new Uint8Array(source.buffer.slice(source.byteOffset + start, source.byteOffset + at))
}

function readCollection(tag: number | undefined, depth: number): Value {
  if (depth > MAX_DEPTH) throw corrupt('a value is nested too deep')
  switch (tag) {
    case MAP:
      return readMap(depth)
    case LIST: {
      const count = readCount()
      const list: Value[] = []
      for (let i = 0; i < count; i++) list.push(readValue(depth))
      return list
    }
    case STRING_SET:
    case NUMBER_SET:
    case BINARY_SET:
      return readSet(depth)
    default:
      throw corrupt(`unknown value tag ${tag}`)
  }
}

/** Earlier versions stored members in the order of the request. */
function readSet(depth: number): SetValue {
  const count = readCount()
  const members: Member[] = []
  for (let i = 0; i < count; i++) members.push(readValue(depth) as Member)
  return sortedSet(members)
}
