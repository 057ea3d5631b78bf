import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import {
  applyUpdate,
  parseUpdate,
  updatedAttributes,
  updateTargets,
} from '../../src/expressions/update.ts'
import { NumberValue, type Item, type Value } from '../../src/values/types.ts'
import { anyItem, anyValue, copyOf } from '../support/arbitrary-values.ts'

const values: Record<string, Value> = {
  ':s': 'x',
  ':n': 5,
  ':m': 1,
  ':tenth': 0.1,
  ':list': ['q'],
  ':ab': new Set(['a', 'b']),
  ':a': new Set(['a']),
  ':all': new Set(['a', 'b', 'c']),
  ':ones': new Set([1]),
  ':t': true,
  ':map': { k: 'v' },
  ':huge': new NumberValue(`99999999999999999999999999999999999999${'0'.repeat(88)}`),
  ':long': new NumberValue('12345678901234567890123456789012345678'),
}
const names = { '#a': 'a', '#proto': '__proto__', '#ctor': 'constructor' }

const item: Item = {
  s: 'str',
  n: 10,
  fifth: 0.2,
  t: true,
  m: { x: 1, y: [0, 1, 2], z: { q: 'Q', r: 'R' } },
  l: ['0', '1', '2', '3'],
  ss: new Set(['a', 'b', 'c']),
  ns: new Set([1, 2]),
  nothing: null,
}

function parsed(text: string) {
  return parseUpdate(text, createPlaceholders(names, values))
}

/** What the update changes at the top level: new and changed attributes, undefined for removed ones. */
function changes(text: string, before: Item = item): Record<string, Value | undefined> {
  const copy = copyOf(before)
  const { item: after } = applyUpdate(parsed(text), before)
  expect(before).toEqual(copy)
  const changed: Record<string, Value | undefined> = {}
  for (const name of Object.keys({ ...before, ...after })) {
    if (after[name] !== before[name]) changed[name] = after[name]
  }
  return changed
}

describe('SET', () => {
  test.each<[string, Record<string, Value>]>([
    ['SET a = :s', { a: 'x' }],
    ['set #a = :s, s = :n', { a: 'x', s: 5 }],
    ['SET a = s, s = n', { a: 'str', s: 10 }],
    ['SET a = n + :n', { a: 15 }],
    ['SET n = n - :m', { n: 9 }],
    ['SET a = :n-:m', { a: 4 }],
    ['SET a = fifth + :tenth', { a: 0.3 }],
    ['SET a = (n + :n)', { a: 15 }],
    ['SET a = (n) + (:n)', { a: 15 }],
    ['SET a = if_not_exists(s, :n)', { a: 'str' }],
    ['SET a = if_not_exists(nothing, :n)', { a: null }],
    ['SET a = if_not_exists(a, :m) + :n', { a: 6 }],
    ['SET a = if_not_exists(absent, if_not_exists(m.absent, :s))', { a: 'x' }],
    ['SET l = list_append(l, :list)', { l: ['0', '1', '2', '3', 'q'] }],
    ['SET a = list_append(if_not_exists(a, :list), :list)', { a: ['q', 'q'] }],
    ['SET m.x = m.x + :n', { m: { x: 6, y: [0, 1, 2], z: { q: 'Q', r: 'R' } } }],
    ['SET m.fresh = :s', { m: { x: 1, y: [0, 1, 2], z: { q: 'Q', r: 'R' }, fresh: 'x' } }],
    ['SET l[1] = :s', { l: ['0', 'x', '2', '3'] }],
    ['SET m.y[0] = m.y[2], m.y[2] = m.y[0]', { m: { x: 1, y: [2, 1, 0], z: { q: 'Q', r: 'R' } } }],
  ])('%s', (text, expected) => {
    expect(changes(text)).toEqual(expected)
  })

  test('beyond the end of a list appends, in the order of the indexes', () => {
    expect(changes('SET l[9] = :s')).toEqual({ l: ['0', '1', '2', '3', 'x'] })
    expect(changes('SET l[9] = :s, l[7] = :n')).toEqual({ l: ['0', '1', '2', '3', 5, 'x'] })
    expect(changes('SET l[2147483647] = :s')).toEqual({ l: ['0', '1', '2', '3', 'x'] })
  })

  test('arithmetic is exact to 38 digits and refuses what needs more', () => {
    expect(changes('SET a = :long - :n')).toEqual({
      a: new NumberValue('12345678901234567890123456789012345673'),
    })
    expect(() => changes('SET a = :huge + :huge')).toThrow('Number overflow')
    expect(() => changes('SET a = :long + :tenth')).toThrow(
      'Attempting to store more than 38 significant digits in a Number',
    )
  })
})

describe('REMOVE', () => {
  test.each<[string, Record<string, Value | undefined>]>([
    ['REMOVE s', { s: undefined }],
    ['REMOVE absent', {}],
    ['REMOVE m.x', { m: { y: [0, 1, 2], z: { q: 'Q', r: 'R' } } }],
    ['REMOVE l[0]', { l: ['1', '2', '3'] }],
    ['REMOVE l[2], l[0]', { l: ['1', '3'] }],
    ['REMOVE l[0] SET l[1] = :s', { l: ['x', '2', '3'] }],
    ['REMOVE l[0] SET l[9] = :s', { l: ['1', '2', '3', 'x'] }],
    ['SET l[3] = :s REMOVE l[0], l[1], l[2]', { l: ['x'] }],
    ['REMOVE m.z.q, m.y[0]', { m: { x: 1, y: [1, 2], z: { r: 'R' } } }],
  ])('%s', (text, expected) => {
    expect(changes(text)).toEqual(expected)
  })

  test('of an element beyond the end changes nothing', () => {
    expect(applyUpdate(parsed('REMOVE l[9]'), item).item).toEqual(item)
  })
})

describe('ADD', () => {
  test.each<[string, Record<string, Value>]>([
    ['ADD n :n', { n: 15 }],
    ['ADD fresh :n', { fresh: 5 }],
    ['ADD fresh :ab', { fresh: new Set(['a', 'b']) }],
    ['ADD ns :ones', { ns: new Set([1, 2]) }],
    ['ADD m.x :n', { m: { x: 6, y: [0, 1, 2], z: { q: 'Q', r: 'R' } } }],
    ['ADD m.y[9] :n', { m: { x: 1, y: [0, 1, 2, 5], z: { q: 'Q', r: 'R' } } }],
  ])('%s', (text, expected) => {
    expect(changes(text)).toEqual(expected)
  })
})

describe('DELETE', () => {
  test.each<[string, Record<string, Value | undefined>]>([
    ['DELETE ss :a', { ss: new Set(['b', 'c']) }],
    ['DELETE absent :a', {}],
    ['DELETE m.absent :a', { m: { x: 1, y: [0, 1, 2], z: { q: 'Q', r: 'R' } } }],
  ])('%s', (text, expected) => {
    expect(changes(text)).toEqual(expected)
  })

  test('of every member removes the set', () => {
    expect(changes('DELETE ss :all')).toEqual({ ss: undefined })
    expect(changes('DELETE l[0] :all', { l: [new Set(['a']), 1] })).toEqual({ l: [1] })
  })

  test('compares bytes and wide numbers by content', () => {
    const before = { bs: new Set([Uint8Array.of(1), Uint8Array.of(2)]) }
    const update = parseUpdate(
      'DELETE bs :bs',
      createPlaceholders(undefined, { ':bs': new Set([Uint8Array.of(1)]) }),
    )
    expect(applyUpdate(update, before).item).toEqual({ bs: new Set([Uint8Array.of(2)]) })
  })
})

describe('an update that does not fit the item', () => {
  const badPath = 'The document path provided in the update expression is invalid for update'
  const missing = 'The provided expression refers to an attribute that does not exist in the item'
  const badType = 'An operand in the update expression has an incorrect data type'
  test.each([
    ['SET absent.a = :s', badPath],
    ['SET m.x.y = :s', badPath],
    ['SET m[0] = :s', badPath],
    ['SET l.a = :s', badPath],
    ['SET s[0] = :s', badPath],
    ['SET l[9].a = :s', badPath],
    ['SET ss[0] = :s', badPath],
    ['REMOVE absent.a', badPath],
    ['REMOVE m.absent.a', badPath],
    ['REMOVE s[0]', badPath],
    ['ADD absent.a :n', badPath],
    ['DELETE absent.a :a', badPath],
    ['SET a = absent', missing],
    ['SET a = l[9]', missing],
    ['SET a = absent + :n', missing],
    ['SET a = if_not_exists(absent, m.absent)', missing],
    ['SET a = list_append(absent, :list)', missing],
    ['SET a = s + :n', badType],
    ['SET a = if_not_exists(absent, :s) + :n', badType],
    ['SET a = list_append(s, :list)', badType],
    ['SET a = list_append(l, ss)', badType],
    ['ADD s :n', badType],
    ['ADD ss :n', badType],
    ['ADD ss :ones', badType],
    ['ADD n :a', badType],
    ['DELETE s :a', badType],
    ['DELETE ss :ones', badType],
  ])('%s', (text, message) => {
    expect(() => changes(text)).toThrow(message)
  })

  test('a value may not be moved below 32 levels', () => {
    let deep: Value = 'x'
    for (let level = 0; level < 31; level++) deep = [deep]
    expect(() => changes('SET a = deep', { deep })).not.toThrow()
    expect(() => changes('SET m.a = deep', { deep, m: {} })).toThrow(
      'Nesting Levels have exceeded supported limits',
    )
  })
})

describe('an update that AWS refuses unseen', () => {
  const overlap =
    'Two document paths overlap with each other; must remove or rewrite one of these paths;'
  test.each([
    ['a', 'Syntax error; token: "a", near: "a"'],
    ['SET', 'Syntax error; token: "<EOF>", near: "SET"'],
    ['SET a = :s,', 'Syntax error; token: "<EOF>", near: ","'],
    ['SET a = :s, REMOVE s', 'Syntax error; token: "REMOVE", near: ", REMOVE s"'],
    ['SET a = n + :n + :m', 'Syntax error; token: "+", near: ":n + :m"'],
    ['SET a = (n + :n) - :m', 'Syntax error; token: "-", near: ") - :m"'],
    ['SET a = if_not_exists(a, n + :n)', 'Syntax error; token: "+", near: "n + :n"'],
    ['ADD a = :n', 'Syntax error; token: "=", near: "a = :n"'],
    ['ADD a n', 'Syntax error; token: "n", near: "a n"'],
    ['SET a = ((n))', 'The expression has redundant parentheses;'],
    ['SET a = :s SET s = :s', 'The "SET" section can only be used once in an update expression;'],
    ['SET a = foo(s)', 'Invalid function name; function: foo'],
    ['SET a = size(s)', 'The function is not allowed in an update expression; function: size'],
    [
      'SET a = list_append(list_append(l, l), l)',
      'The function is not allowed to be used this way in an expression; function: list_append',
    ],
    ['SET name = :s', 'Attribute name is a reserved keyword; reserved keyword: name'],
    [
      'SET #x = :s',
      'An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'SET a = :x',
      'An expression attribute value used in expression is not defined; attribute value: :x',
    ],
    ['SET a = :s, a = :n', `${overlap} path one: [a], path two: [a]`],
    ['SET a = :s, a.b = :n', `${overlap} path one: [a], path two: [a, b]`],
    ['SET l[0] = :s REMOVE l', `${overlap} path one: [l, [0]], path two: [l]`],
    ['SET #a = :s REMOVE a', `${overlap} path one: [a], path two: [a]`],
    [
      'SET a.b = :s, a[0] = :s',
      'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [0]]',
    ],
    [
      'SET a = if_not_exists(s)',
      'Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1',
    ],
    [
      'SET a = if_not_exists(:s, :s)',
      'Operator or function requires a document path; operator or function: if_not_exists',
    ],
    [
      'SET a = if_not_exists(s, s)',
      'The first operand must be distinct from the remaining operands for this operator or function; operator: if_not_exists, first operand: [s]',
    ],
    [
      'SET a = n + :s',
      'Incorrect operand type for operator or function; operator or function: +, operand type: S',
    ],
    [
      'SET a = list_append(l, :n)',
      'Incorrect operand type for operator or function; operator or function: list_append, operand type: N',
    ],
    [
      'ADD a :s',
      'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND',
    ],
    [
      'DELETE a :n',
      'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND',
    ],
  ])('%s', (text, message) => {
    expect(() => parsed(text)).toThrow(`Invalid UpdateExpression: ${message}`)
  })
})

describe('what an update reports', () => {
  test('the attributes it may change', () => {
    expect([...updateTargets(parsed('SET m.x = :n, a = :s REMOVE l[0], m.z'))].toSorted()).toEqual([
      'a',
      'l',
      'm',
    ])
  })

  test('only the nested part of what it touched', () => {
    const update = parsed('SET m.x = :n, l[1] = :s REMOVE m.z.q ADD n :n')
    const { item: after, paths } = applyUpdate(update, item)
    expect(updatedAttributes(update, item)).toEqual({ m: { x: 1, z: { q: 'Q' } }, l: ['1'], n: 10 })
    expect(updatedAttributes(update, after)).toEqual({ m: { x: 5 }, l: ['x'], n: 15 })
    expect(paths).toEqual([['m', 'x'], ['l', 1], ['m', 'z', 'q'], ['n']])
  })

  test('nothing for what is no longer there', () => {
    const update = parsed('REMOVE s, m.x')
    expect(updatedAttributes(update, applyUpdate(update, item).item)).toEqual({})
  })
})

describe('any item', () => {
  test('keeps all attributes that the update does not name, __proto__ included', () => {
    fc.assert(
      fc.property(anyItem, anyValue, (before, value) => {
        const update = parseUpdate(
          'SET #p = :v',
          createPlaceholders({ '#p': '__proto__' }, { ':v': value }),
        )
        const { item: after } = applyUpdate(update, before)
        expect(Object.getPrototypeOf(after)).toBe(Object.prototype)
        expect(Object.getOwnPropertyDescriptor(after, '__proto__')?.value).toBe(value)
        for (const name of Object.keys(before).filter((any) => any !== '__proto__')) {
          expect(after[name]).toBe(before[name])
        }
      }),
    )
  })

  test('loses exactly the attribute that is removed', () => {
    const before = JSON.parse('{"__proto__": {"constructor": 1}, "a": 1}') as Item
    expect(Object.keys(applyUpdate(parsed('REMOVE #proto'), before).item)).toEqual(['a'])
    expect(applyUpdate(parsed('SET a = #proto.#ctor'), before).item['a']).toBe(1)
  })
})
