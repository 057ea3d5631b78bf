/**
 * Page cursors: the store's last evaluated key, encrypted, so that a client can neither read stored
 * key strings nor continue a listing that is not its own.
 *
 * AES-256-GCM (NIST SP 800-38D): version byte ‖ 96-bit random nonce ‖ ciphertext ‖ 128-bit tag, in
 * base64url. The AES key is HMAC-SHA-256(cursor key, scope): section 8.3 allows 2^32 random nonces
 * for one key, and with a key for each user and listing no deployment gets near that. The scope is
 * also the additional data. The error does not say whether a cursor was altered, cut, foreign or old.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { Item, Value } from './db.ts'
import { defineErrors } from './errors.ts'
import { NumberValue } from './number-value.ts'
import type { Page } from './paging.ts'
import type { ServerSecrets } from './server-secrets.ts'

export const cursorError = defineErrors('request', {
  invalid_cursor: [400, 'Invalid cursor. Start again from the first page.'],
})

const VERSION = 1
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Four key attributes at DynamoDB's limits of 2,048 and 1,024 bytes fit twice. */
const MAX_TEXT_LENGTH = 16_384

/** Whose listing it is, and which one. A cursor opens only with the same scope. */
export type CursorScope = readonly [string, ...string[]]

export interface Cursors {
  seal(scope: CursorScope, key: Item): string
  /** Throws `request.invalid_cursor` for anything that `seal` did not create for this scope. */
  open(scope: CursorScope, text: string): Item
}

/** Seals with the first key and opens with any, so that a key can be rotated with overlap. */
export function createCursors(keys: Uint8Array | readonly Uint8Array[]): Cursors {
  const [current, ...older] = (keys instanceof Uint8Array ? [keys] : keys).map(copyKey)
  if (current === undefined) throw new TypeError('Cannot create cursors without a key')
  const all = [current, ...older]

  return {
    seal(scope, key) {
      const context = encodeScope(scope)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', scopeKey(current, context), nonce)
      cipher.setAAD(context)
      const sealed = [cipher.update(encodeKey(key)), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat([Buffer.of(VERSION), nonce, ...sealed]).toString('base64url')
    },

    open(scope, text) {
      const context = encodeScope(scope)
      const bytes = decodeText(text)
      const plain = bytes && all.map((key) => unseal(key, context, bytes)).find(Boolean)
      if (!plain) throw cursorError('invalid_cursor')
      return decodeKey(plain)
    },
  }
}

/** Lists a page for clients: opens their cursor, and seals the one to continue with. */
export type Pager = <T, View>(
  scope: CursorScope,
  page: { limit: number; cursor?: string | undefined },
  list: (page: { limit: number; after: Item | undefined }) => Promise<Page<T>>,
  view: (item: T) => View,
) => Promise<{ items: View[]; cursor: string | null }>

/** Seals cursors with a server secret, which may be rotated while the server runs. */
export function createPager(secrets: ServerSecrets, secretName: string): Pager {
  let known: { versions: string; cursors: Cursors } | undefined

  async function currentCursors(): Promise<Cursors> {
    const accepted = await secrets.accepted(secretName)
    const versions = accepted.map(({ version }) => version).join()
    if (known?.versions !== versions) {
      known = { versions, cursors: createCursors(accepted.map(({ key }) => key)) }
    }
    return known.cursors
  }

  return async (scope, { limit, cursor }, list, view) => {
    const cursors = await currentCursors()
    const after = cursor === undefined ? undefined : cursors.open(scope, cursor)
    const { items, next } = await list({ limit, after })
    return { items: items.map(view), cursor: next ? cursors.seal(scope, next) : null }
  }
}

function unseal(key: Uint8Array, context: Uint8Array, bytes: Buffer): Buffer | undefined {
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  // Without a fixed tag length Node would accept a tag cut down to four bytes.
  const decipher = createDecipheriv('aes-256-gcm', scopeKey(key, context), nonce, {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(context)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plain = decipher.update(bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES))
  try {
    decipher.final()
    return plain
  } catch {
    return undefined
  }
}

/** The bytes of a cursor of this version, or undefined. */
function decodeText(text: string): Buffer | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= 1 + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) return undefined
  // Buffer ignores foreign characters and spare bits; only the exact text from `seal` is accepted.
  return bytes.toString('base64url') === text ? bytes : undefined
}

function scopeKey(key: Uint8Array, context: Uint8Array): Buffer {
  return createHmac('sha256', key).update(context).digest()
}

/** As JSON, so that ['a', 'bc'] and ['ab', 'c'] differ. */
function encodeScope(scope: CursorScope): Buffer {
  return Buffer.from(JSON.stringify(['strongroom cursor', VERSION, ...scope]))
}

type EncodedValue = ['S' | 'N' | 'B', string] | ['n', number]

function encodeKey(key: Item): string {
  return JSON.stringify(Object.entries(key).map(([name, value]) => [name, ...encodeValue(value)]))
}

function encodeValue(value: Value): EncodedValue {
  if (typeof value === 'string') return ['S', value]
  if (typeof value === 'number' && Number.isFinite(value)) return ['n', value]
  if (value instanceof Uint8Array) return ['B', Buffer.from(value).toString('base64')]
  if (isNumberValue(value)) return ['N', value.value]
  throw new TypeError('Cannot seal a cursor: key attributes are strings, numbers or bytes')
}

/** Each store has its own class for these; a plain object would be a map, which cannot be a key. */
function isNumberValue(value: Value): value is NumberValue {
  if (typeof value !== 'object' || value === null || !('value' in value)) return false
  return Object.getPrototypeOf(value) !== Object.prototype && typeof value.value === 'string'
}

function decodeKey(plain: Buffer): Item {
  // Authenticated: only encodeKey can have written it.
  const entries = JSON.parse(plain.toString()) as [string, ...EncodedValue][]
  return Object.fromEntries(entries.map(([name, ...value]) => [name, decodeValue(value)]))
}

function decodeValue([type, content]: EncodedValue): Value {
  if (type === 'N') return new NumberValue(content)
  if (type === 'B') return new Uint8Array(Buffer.from(content, 'base64'))
  return content
}

function copyKey(key: Uint8Array): Uint8Array {
  if (key.byteLength !== KEY_BYTES) throw new TypeError('Cannot create cursors: keys have 32 bytes')
  return Uint8Array.from(key)
}
