import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCursors, createPager } from '../src/cursor.ts'
import type { Item, Value } from '../src/db.ts'
import { ApiError } from '../src/errors.ts'
import { NumberValue } from '../src/number-value.ts'
import type { ServerSecret } from '../src/server-secrets.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const scope = ['usr_1', 'sources'] as const
const position: Item = { PK: 'USER#usr_1', SK: 'SRC#src_7' }

/** What opening throws, as a client would see it. */
function refusal(open: () => unknown): object {
  try {
    open()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, status, message, details, data, headers } = error
    return { code, status, message, details, data, headers }
  }
  throw new Error('The cursor was opened')
}

const refused = {
  code: 'request.invalid_cursor',
  status: 400,
  message: 'Invalid cursor. Start again from the first page.',
  details: undefined,
  data: undefined,
  headers: undefined,
}

describe('A cursor', () => {
  test('opens to the key it was created from, in its own scope', () => {
    const cursors = createCursors(key(1))
    expect(cursors.open(scope, cursors.seal(scope, position))).toEqual(position)
  })

  test('keeps strings, numbers, exact numbers and bytes of any value', () => {
    const cursors = createCursors(key(1))
    const value: fc.Arbitrary<Value> = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.bigInt().map((number) => new NumberValue(String(number))),
      fc.uint8Array(),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value, { noNullPrototype: true }), (item) => {
        expect(cursors.open(scope, cursors.seal(scope, item))).toEqual(item)
      }),
    )
  })

  test('keeps an exact number of a store with its own number class', () => {
    class EngineNumber {
      readonly value = '12345678901234567890'
      // Has the same member as NumberValue, so that the compiler accepts it.
      toString() {
        return this.value
      }
    }
    const cursors = createCursors(key(1))
    const opened = cursors.open(scope, cursors.seal(scope, { n: new EngineNumber() }))
    expect(opened).toEqual({ n: new NumberValue('12345678901234567890') })
  })

  test('keeps an attribute named __proto__ as an attribute', () => {
    const cursors = createCursors(key(1))
    const item = Object.fromEntries([['__proto__', 'x']])
    expect(Object.entries(cursors.open(scope, cursors.seal(scope, item)))).toEqual([
      ['__proto__', 'x'],
    ])
  })

  test('reveals nothing of the key and is never the same text twice', () => {
    const cursors = createCursors(key(1))
    const texts = Array.from({ length: 100 }, () => cursors.seal(scope, position))
    expect(new Set(texts).size).toBe(100)
    for (const text of texts) {
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(Buffer.from(text, 'base64url').includes('usr_1')).toBe(false)
    }
  })

  test('of an older key opens while that key is still given', () => {
    const old = createCursors(key(1)).seal(scope, position)
    expect(createCursors([key(2), key(1)]).open(scope, old)).toEqual(position)
    expect(refusal(() => createCursors(key(2)).open(scope, old))).toEqual(refused)
  })

  test('is sealed with the first of several keys', () => {
    const text = createCursors([key(2), key(1)]).seal(scope, position)
    expect(createCursors(key(2)).open(scope, text)).toEqual(position)
  })
})

describe('A cursor of another listing', () => {
  test.each([
    ['another user', ['usr_2', 'sources'] as const],
    ['another listing', ['usr_1', 'events'] as const],
    ['a shorter scope', ['usr_1'] as const],
    ['a longer scope', ['usr_1', 'sources', ''] as const],
    ['the same letters divided differently', ['usr_1s', 'ources'] as const],
  ])('is refused for %s', (_, other) => {
    const cursors = createCursors(key(1))
    const text = cursors.seal(scope, position)
    expect(refusal(() => cursors.open(other, text))).toEqual(refused)
  })

  test('is rejected if any bit has changed', () => {
    const cursors = createCursors(key(1))
    const bytes = Buffer.from(cursors.seal(scope, position), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(refusal(() => cursors.open(scope, changed.toString('base64url')))).toEqual(refused)
    }
  })

  test('is rejected if it is cut anywhere', () => {
    const cursors = createCursors(key(1))
    const text = cursors.seal(scope, position)
    for (let length = 0; length < text.length; length++) {
      expect(refusal(() => cursors.open(scope, text.slice(0, length)))).toEqual(refused)
    }
  })

  test('is rejected in any other encoding of the same bytes', () => {
    const cursors = createCursors(key(1))
    const text = cursors.seal(scope, { PK: 'ab' })
    for (const spelling of [`${text}=`, ` ${text}`, `${text}\n`, `${text}.`, `${text}A`]) {
      expect(refusal(() => cursors.open(scope, spelling))).toEqual(refused)
    }
  })

  test('is rejected with the same error, whatever the text is', () => {
    const cursors = createCursors([key(1), key(2)])
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(refusal(() => cursors.open(scope, text))).toEqual(refused)
      }),
    )
    expect(refusal(() => cursors.open(scope, 'A'.repeat(1_000_000)))).toEqual(refused)
  })
})

describe('Creating cursors', () => {
  test('needs at least one key, and keys of 32 bytes', () => {
    expect(() => createCursors([])).toThrow('without a key')
    expect(() => createCursors(new Uint8Array(16))).toThrow('keys have 32 bytes')
    expect(() => createCursors([key(1), new Uint8Array(33)])).toThrow('keys have 32 bytes')
  })

  test('uses the keys as they were given, even if their memory is wiped later', () => {
    const given = key(1)
    const cursors = createCursors(given)
    const text = cursors.seal(scope, position)
    given.fill(0)
    expect(cursors.open(scope, text)).toEqual(position)
  })

  test.each([
    ['a map', { value: 'x' }],
    ['a list', ['x']],
    ['a set', new Set(['x'])],
    ['a truth value', true],
    ['null', null],
    ['a number that is none', Number.NaN],
  ] satisfies [string, Value][])('is refused for %s, which no key can be', (_, value) => {
    expect(() => createCursors(key(1)).seal(scope, { PK: value })).toThrow(TypeError)
  })
})

describe('A pager', () => {
  const stored = ['a', 'b', 'c', 'd', 'e']

  async function list({ limit, after }: { limit: number; after: Item | undefined }) {
    const start = after ? stored.indexOf(String(after['PK'])) + 1 : 0
    const items = stored.slice(start, start + limit)
    return { items, next: start + limit < stored.length ? { PK: items.at(-1)! } : undefined }
  }

  function setUp() {
    let accepted: ServerSecret[] = [{ version: 1, key: key(1) }]
    const asked = new Set<string>()
    const secrets = {
      current: async () => accepted[0]!,
      accepted: async (name: string) => {
        asked.add(name)
        return accepted
      },
    }
    return {
      page: createPager(secrets, 'test-cursors'),
      asked,
      rotate: (versions: ServerSecret[]) => (accepted = versions),
    }
  }

  const upper = (text: string) => text.toUpperCase()

  test('lists page by page until there is no more', async () => {
    const { page, asked } = setUp()
    const first = await page(scope, { limit: 3 }, list, upper)
    expect(first.items).toStrictEqual(['A', 'B', 'C'])
    const second = await page(scope, { limit: 3, cursor: first.cursor! }, list, upper)
    expect(second).toStrictEqual({ items: ['D', 'E'], cursor: null })
    expect([...asked]).toStrictEqual(['test-cursors'])
  })

  test('accepts cursors of a secret that was rotated as long as the secret is accepted', async () => {
    const { page, rotate } = setUp()
    const { cursor } = await page(scope, { limit: 3 }, list, upper)
    rotate([
      { version: 2, key: key(2) },
      { version: 1, key: key(1) },
    ])
    expect((await page(scope, { limit: 3, cursor: cursor! }, list, upper)).items).toHaveLength(2)
    rotate([{ version: 2, key: key(2) }])
    await expect(page(scope, { limit: 3, cursor: cursor! }, list, upper)).rejects.toMatchObject({
      code: 'request.invalid_cursor',
    })
  })

  test('rejects the cursor of another listing', async () => {
    const { page } = setUp()
    const { cursor } = await page(scope, { limit: 3 }, list, upper)
    const other = page(['usr_2', 'sources'], { limit: 3, cursor: cursor! }, list, upper)
    await expect(other).rejects.toMatchObject({ code: 'request.invalid_cursor' })
  })
})
