/**
 * Requests at random, made from good ones. All chance comes from one seed and the number of the
 * request, so that any request can be made again by itself.
 */
import { type GoodRequest, goodRequests } from './fuzz-requests.ts'

/** A number from 0 to 1, and the next, and the next. */
type Random = () => number

/** The generator "mulberry32", for the request of that number. */
function randomOf(seed: number, number: number): Random {
  let state = (seed ^ Math.imul(number + 1, 0x9e3779b1)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit)
}

function oneOf<T>(random: Random, choices: readonly T[]): T {
  return choices[below(random, choices.length)] as T
}

const nested = (depth: number): unknown => (depth === 0 ? { N: '1' } : { L: [nested(depth - 1)] })

const scraps: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  '\u{1F600}\uD800',
  [],
  [null],
  {},
  { S: '' },
  { N: '' },
  { N: '1e999' },
  { N: '-0' },
  { N: '123456789012345678901234567890123456789' },
  { B: '*' },
  { SS: [] },
  { NS: ['1', '1.0'] },
  { NULL: false },
  { S: 'a', N: '1' },
  { M: { '': { S: 'x' } } },
  nested(40),
  { ['__proto__']: { S: 'x' } },
]

const words = (
  "a id pk sk :v :s #m #x ? AND OR NOT IN BETWEEN SET REMOVE ADD DELETE SELECT FROM WHERE ORDER BY VALUE INTO RETURNING ALL OLD * ( ) [ ] { } << >> , . : ; = <> < <= > >= + - ' \" '' /* -- 0 1 -1 1e5 [0] [99999999999] size( contains( begins_with( attribute_exists( attribute_type( if_not_exists( list_append( set_add( EXISTS( IS MISSING NULL LIMIT " +
  '\u0000 \u00e9 \u{1F600}'
).split(' ')

interface Place {
  holder: Record<string, unknown> | unknown[]
  at: string | number
}

/** Every place in a request that holds something. */
function places(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found
  const holder = value as Place['holder']
  for (const at of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
    found.push({ holder, at })
    places((holder as Record<string | number, unknown>)[at], found)
  }
  return found
}

function get({ holder, at }: Place): unknown {
  return (holder as Record<string | number, unknown>)[at]
}

function set({ holder, at }: Place, value: unknown): void {
  Object.defineProperty(holder, at, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

/** The kind of a value; a value can be replaced by another one of the same kind. */
function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value
  if (Array.isArray(value)) return 'list'
  const [name = '', ...others] = Object.keys(value)
  return others.length === 0 && TYPES.has(name) ? 'attribute' : 'map'
}

const TYPES = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS', 'BS'])

/** Changes one thing in a request, more often in a way that gets past the first checks. */
function mutate(random: Random, request: object): void {
  const all = places(request)
  if (all.length === 0) return
  const chance = random()
  const texts = all.filter((place) => String(get(place)).includes(' '))
  if (chance < 0.4 && texts.length > 0) {
    const place = oneOf(random, texts)
    const value = get(place)
    if (typeof value === 'string') set(place, mutatedText(random, value, ' '))
    return
  }
  const place = oneOf(random, all)
  if (chance < 0.75) replaceAlike(random, place)
  else if (chance < 0.85) remove(place)
  else distort(random, place, all)
}

/** Puts something of the same kind in its place: from another request, or odd. */
function replaceAlike(random: Random, place: Place): void {
  const kind = kindOf(get(place))
  const donors = places(structuredClone(oneOf(random, goodRequests).request)).map(get)
  const choices = [...donors, ...donors, ...structuredClone(scraps)].filter(
    (choice) => kindOf(choice) === kind,
  )
  if (choices.length > 0) set(place, oneOf(random, choices))
}

function remove({ holder, at }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(at), 1)
  else Reflect.deleteProperty(holder, at)
}

function distort(random: Random, place: Place, all: readonly Place[]): void {
  const value = get(place)
  switch (below(random, 3)) {
    case 0:
      set(place, structuredClone(oneOf(random, scraps)))
      return
    case 1: {
      const copies = Array.from({ length: below(random, 120) }, () => structuredClone(value))
      set(place, Array.isArray(value) ? copies.flat() : copies)
      return
    }
    default: {
      const name = String(oneOf(random, [...words, ...all.map(({ at }) => at)]))
      if (!Array.isArray(place.holder)) set({ holder: place.holder, at: name }, value)
    }
  }
}

/** A text with words put in, and pieces cut out or doubled. */
function mutatedText(random: Random, text: string, gap: string): string {
  let changed = text
  for (let left = 1 + below(random, 3); left > 0; left -= 1) {
    const from = below(random, changed.length + 1)
    const to = Math.min(changed.length, from + below(random, 12))
    const piece = changed.slice(from, to)
    const middle = oneOf(random, [
      '',
      piece + piece,
      `${gap}${oneOf(random, words)}${gap}`,
      piece + gap + oneOf(random, words),
      '('.repeat(below(random, 500)),
    ])
    changed = changed.slice(0, from) + middle + changed.slice(to)
  }
  return changed.slice(0, 20_000)
}

export interface FuzzRequest {
  target: string
  contentType: string
  body: Buffer
}

export function fuzzRequest(seed: number, number: number): FuzzRequest {
  const random = randomOf(seed, number)
  const good: GoodRequest = oneOf(random, goodRequests)
  const odd = random()
  const target = odd < 0.01 ? mutatedText(random, 'DynamoDB_20120810.GetItem', '') : good.target
  return {
    target: target.replaceAll(/[^\x20-\x7e]/g, '?'),
    contentType: odd > 0.995 ? 'text/plain' : 'application/x-amz-json-1.0',
    body: bodyOf(random, good),
  }
}

function bodyOf(random: Random, good: GoodRequest): Buffer {
  const kind = random()
  if (kind < 0.02) {
    return Buffer.from(Array.from({ length: below(random, 200) }, () => below(random, 256)))
  }
  const request = structuredClone(good.request)
  if (kind < 0.07) return Buffer.from(JSON.stringify(request))
  for (let left = 1 + below(random, 3); left > 0; left -= 1) mutate(random, request)
  const text = JSON.stringify(request)
  return Buffer.from(kind > 0.97 ? mutatedText(random, text, '') : text)
}
