// Converts stored items directly to the bytes of DynamoDB's JSON, without decoding them: stored UTF-8 is
// copied, and only the characters that JSON requires are escaped. The result equals the JSON of the
// decoded item. The item's size is counted in the same pass.

import { numberText } from '../values/numbers.ts'
import { compare } from '../values/order.ts'
import { isSorted, type Member } from '../values/sets.ts'
import { CONTAINER_BYTES, ENTRY_BYTES, numberTextSize } from '../values/size.ts'
import { NumberValue } from '../values/types.ts'
import { allocate, latin1Slice, utf8Slice, type FastBuffer } from './lmdb/bytes.ts'
import * as codec from './codec.ts'

const literal = (text: string): Uint8Array => Buffer.from(text)
const OPEN_N = literal('{"N":"')
const OPEN_B = literal('{"B":"')
const OPEN_L = literal('{"L":[')
const OPEN_M = literal('{"M":')
const OPEN_SS = literal('{"SS":[')
const OPEN_NS = literal('{"NS":[')
const OPEN_BS = literal('{"BS":[')
const BOOL_TRUE = literal('{"BOOL":true}')
const BOOL_FALSE = literal('{"BOOL":false}')
const NULL_VALUE = literal('{"NULL":true}')

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN = 0x7b
const CLOSE = 0x7d
const CLOSE_LIST = 0x5d

/** Escaping turns a byte into at most six, and the JSON around a value is short. */
const MAX_ESCAPED_BYTES = 6
const ROOM = 64

/** Has a bit of ESCAPED_BITS if one of the four bytes of a word must be escaped. */
function escapesIn(word: number): number {
  const quote = word ^ 0x22222222
  const backslash = word ^ 0x5c5c5c5c
  const control = (word - 0x20202020) & ~word
  return control | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)
}

const ESCAPED_BITS = 0x80808080
/** `{"S"` as a word. */
const OPEN_S_WORD = 0x2253227b

function isEscaped(byte: number): boolean {
  return byte < 0x20 || byte === QUOTE || byte === BACKSLASH
}

const double = new Float64Array(1)
const doubleBytes = new Uint8Array(double.buffer)

/** Writes items and texts one after the other into a growing buffer. */
export class JsonWriter {
  bytes: FastBuffer = allocate(0x10000)
  position = 0
  #view = viewOf(this.bytes)
  #source: Uint8Array = new Uint8Array(0)
  #sourceView = viewOf(this.#source)
  #at = 0

  text(text: string): void {
    this.#reserve(text.length * 3)
    this.position += this.bytes.utf8Write(text, this.position)
  }

  comma(): void {
    this.#reserve(1)
    this.bytes[this.position++] = COMMA
  }

  /** Appends an item; returns its size as DynamoDB counts it. Throws on bytes that are not an item. */
  item(stored: Uint8Array): number {
    if (stored[0] !== codec.CODEC_VERSION) {
      throw codec.corrupt(`unknown item version ${stored[0]}`)
    }
    // lmdb reuses the memory of the bytes for the next read.
    if (stored.buffer !== this.#source.buffer || stored.byteOffset !== this.#source.byteOffset) {
      this.#sourceView = new DataView(stored.buffer, stored.byteOffset)
    }
    this.#source = stored
    this.#at = 1
    const size = this.#map(0, 0)
    if (!(this.#at <= stored.length)) throw codec.corrupt('an item ends too early')
    return size
  }

  #map(depth: number, perEntry: number): number {
    const count = this.#count()
    let size = 0
    this.#reserve(ROOM)
    this.bytes[this.position++] = OPEN
    for (let i = 0; i < count; i++) {
      if (i > 0) this.bytes[this.position++] = COMMA
      const length = this.#nameLength()
      this.#quoted(length)
      this.bytes[this.position++] = COLON
      size += perEntry + length + this.#value(depth)
    }
    // Nested maps that end together need room for all their closing brackets.
    this.#reserve(ROOM)
    this.bytes[this.position++] = CLOSE
    return size
  }

  /** Also reserves room for the JSON that follows. */
  #value(depth: number): number {
    const tag = this.#source[this.#at++]
    switch (tag) {
      case codec.ASCII8:
        return this.#text(this.#source[this.#at++]!)
      case codec.ASCII32:
      case codec.UTF8:
        return this.#text(this.#count())
      case codec.NULL:
        this.#literal(NULL_VALUE)
        return 1
      case codec.FALSE:
        this.#literal(BOOL_FALSE)
        return 1
      case codec.TRUE:
        this.#literal(BOOL_TRUE)
        return 1
      case codec.INT8:
      case codec.INT32:
      case codec.DOUBLE:
      case codec.DECIMAL: {
        this.#literal(OPEN_N)
        const size = this.#number(tag)
        this.#end(QUOTE)
        return size
      }
      case codec.BYTES8:
      case codec.BYTES32: {
        this.#literal(OPEN_B)
        const size = this.#binary(tag)
        this.#end(QUOTE)
        return size
      }
      default:
        return this.#collection(tag, depth + 1)
    }
  }

  #text(length: number): number {
    const start = this.#take(length)
    this.#reserve(MAX_ESCAPED_BYTES * length + ROOM)
    const { bytes, position } = this
    this.#view.setInt32(position, OPEN_S_WORD, true)
    bytes[position + 4] = COLON
    const end = this.#writeQuoted(start, length, position + 5)
    bytes[end] = CLOSE
    this.position = end + 1
    return length
  }

  #end(last: number): void {
    this.#reserve(ROOM)
    this.bytes[this.position++] = last
    this.bytes[this.position++] = CLOSE
  }

  #collection(tag: number | undefined, depth: number): number {
    if (depth > codec.MAX_DEPTH) throw codec.corrupt('a value is nested too deep')
    switch (tag) {
      case codec.MAP: {
        this.#literal(OPEN_M)
        const size = CONTAINER_BYTES + this.#map(depth, ENTRY_BYTES)
        this.bytes[this.position++] = CLOSE
        return size
      }
      case codec.LIST:
        return this.#list(OPEN_L, CONTAINER_BYTES, () => ENTRY_BYTES + this.#value(depth))
      case codec.STRING_SET:
        return this.#set(OPEN_SS)
      case codec.NUMBER_SET:
        return this.#set(OPEN_NS)
      case codec.BINARY_SET:
        return this.#set(OPEN_BS)
      default:
        throw codec.corrupt(`unknown value tag ${tag}`)
    }
  }

  #list(open: Uint8Array, own: number, member: () => number): number {
    const count = this.#count()
    let size = own
    this.#literal(open)
    for (let i = 0; i < count; i++) {
      if (i > 0) this.bytes[this.position++] = COMMA
      size += member()
    }
    this.#end(CLOSE_LIST)
    return size
  }

  /** In order, although earlier versions stored members in the order of the request. */
  #set(open: Uint8Array): number {
    const start = this.#at
    const members: { at: number; value: Member }[] = []
    for (let left = this.#count(); left > 0; left--) {
      members.push({ at: this.#at, value: this.#readMember() })
    }
    const end = this.#at
    if (!isSorted(members.map(({ value }) => value))) {
      members.sort((left, right) => compare(left.value, right.value))
    }
    this.#at = start
    let next = 0
    const size = this.#list(open, 0, () => {
      this.#at = members[next++]!.at
      return this.#member()
    })
    this.#at = end
    return size
  }

  /** Texts are compared by their bytes, so they are read as such. */
  #readMember(): Member {
    const tag = this.#source[this.#at++]
    switch (tag) {
      case codec.ASCII8:
      case codec.BYTES8:
        return this.#readBytes(this.#source[this.#at++]!)
      case codec.ASCII32:
      case codec.UTF8:
      case codec.BYTES32:
        return this.#readBytes(this.#count())
      default:
        return this.#readNumber(tag)
    }
  }

  #readBytes(length: number): Uint8Array {
    const start = this.#take(length)
    return this.#source.subarray(start, start + length)
  }

  #member(): number {
    const tag = this.#source[this.#at++]
    if (tag === codec.ASCII8 || tag === codec.ASCII32 || tag === codec.UTF8) {
      const length = tag === codec.ASCII8 ? this.#source[this.#at++]! : this.#count()
      this.#quoted(length)
      return length
    }
    this.#reserve(ROOM)
    this.bytes[this.position++] = QUOTE
    const isBinary = tag === codec.BYTES8 || tag === codec.BYTES32
    const size = isBinary ? this.#binary(tag) : this.#number(tag)
    this.bytes[this.position++] = QUOTE
    return size
  }

  #number(tag: number | undefined): number {
    const text = numberText(this.#readNumber(tag))
    this.#plain(text)
    return numberTextSize(text)
  }

  #readNumber(tag: number | undefined): number | NumberValue {
    const source = this.#source
    switch (tag) {
      case codec.INT8:
        return (source[this.#at++]! << 24) >> 24
      case codec.INT32:
        return this.#uint32() | 0
      case codec.DOUBLE:
        for (let i = 0; i < 8; i++) doubleBytes[i] = source[this.#at + i]!
        this.#at += 8
        return double[0]!
      case codec.DECIMAL:
        return new NumberValue(this.#digits(this.#nameLength()))
      default:
        throw codec.corrupt(`unknown value tag ${tag}`)
    }
  }

  #digits(length: number): string {
    const start = this.#take(length)
    return latin1Slice.call(this.#source, start, start + length)
  }

  #binary(tag: number): number {
    const length = tag === codec.BYTES8 ? this.#source[this.#at++]! : this.#count()
    const start = this.#take(length)
    const { buffer, byteOffset } = this.#source
    this.#plain(Buffer.from(buffer, byteOffset + start, length).toString('base64'))
    return length
  }

  #quoted(length: number): void {
    const start = this.#take(length)
    this.#reserve(MAX_ESCAPED_BYTES * length + ROOM)
    this.position = this.#writeQuoted(start, length, this.position)
  }

  /**
   * Copies a text from the source in quotes and returns its end; JSON.stringify handles texts that need
   * escapes.
   */
  #writeQuoted(start: number, length: number, position: number): number {
    const { bytes } = this
    bytes[position] = QUOTE
    if (this.#copyPlain(start, length, position + 1)) {
      bytes[position + length + 1] = QUOTE
      return position + length + 2
    }
    const text = JSON.stringify(utf8Slice.call(this.#source, start, start + length))
    return position + bytes.utf8Write(text, position)
  }

  /** Returns false if a character needs an escape; the copied bytes are then invalid. */
  #copyPlain(from: number, length: number, to: number): boolean {
    const source = this.#sourceView
    const target = this.#view
    if (length < 4) {
      for (let i = 0; i < length; i++) {
        const byte = source.getUint8(from + i)
        if (isEscaped(byte)) return false
        target.setUint8(to + i, byte)
      }
      return true
    }
    // The last word overlaps the one before, so that no bytes are left.
    const last = length - 4
    let escapes = 0
    let i = 0
    for (; i < last - 12; i += 16) {
      const first = source.getInt32(from + i, true)
      const second = source.getInt32(from + i + 4, true)
      const third = source.getInt32(from + i + 8, true)
      const fourth = source.getInt32(from + i + 12, true)
      escapes |= escapesIn(first) | escapesIn(second) | escapesIn(third) | escapesIn(fourth)
      target.setInt32(to + i, first, true)
      target.setInt32(to + i + 4, second, true)
      target.setInt32(to + i + 8, third, true)
      target.setInt32(to + i + 12, fourth, true)
    }
    for (; i < last; i += 4) {
      const word = source.getInt32(from + i, true)
      escapes |= escapesIn(word)
      target.setInt32(to + i, word, true)
    }
    const word = source.getInt32(from + last, true)
    target.setInt32(to + last, word, true)
    return ((escapes | escapesIn(word)) & ESCAPED_BITS) === 0
  }

  #plain(ascii: string): void {
    this.#reserve(ascii.length + ROOM)
    const { bytes, position } = this
    for (let i = 0; i < ascii.length; i++) bytes[position + i] = ascii.charCodeAt(i)
    this.position = position + ascii.length
  }

  #literal(part: Uint8Array): void {
    this.#reserve(ROOM)
    const { bytes, position } = this
    for (let i = 0; i < part.length; i++) bytes[position + i] = part[i]!
    this.position = position + part.length
  }

  /** Skips this many bytes and returns where they start. */
  #take(length: number): number {
    const start = this.#at
    if (!(start + length <= this.#source.length)) throw codec.corrupt('a text ends too early')
    this.#at = start + length
    return start
  }

  #nameLength(): number {
    const length = this.#source[this.#at++]!
    return length === codec.LONG_NAME ? this.#count() : length
  }

  #count(): number {
    const count = this.#uint32()
    if (count > this.#source.length) throw codec.corrupt(`impossible count ${count}`)
    return count
  }

  #uint32(): number {
    const source = this.#source
    const at = this.#at
    this.#at = at + 4
    return (
      ((source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!) >>>
      0
    )
  }

  #reserve(size: number): void {
    if (this.position + size <= this.bytes.length) return
    const grown = allocate(Math.max(this.bytes.length * 2, this.position + size))
    this.bytes.copy(grown, 0, 0, this.position)
    this.bytes = grown
    this.#view = viewOf(grown)
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
