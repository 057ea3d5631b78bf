import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import { parseProjection, project } from '../../src/expressions/projection.ts'
import type { Item } from '../../src/values/types.ts'
import { anyItem } from '../support/arbitrary-values.ts'

const item: Item = {
  a: { b: 'B', c: ['0', '1', { d: 'D', e: 1 }] },
  b: 'b',
  l: ['0', '1', '2'],
}

function projected(text: string) {
  return project(parseProjection(text, createPlaceholders({ '#a': 'a', '#n': 'name' })), item)
}

describe('a projection returns what its paths name', () => {
  test.each<[string, Item]>([
    ['b', { b: 'b' }],
    ['b, absent', { b: 'b' }],
    ['#a.b', { a: { b: 'B' } }],
    ['a.b, a.c[2].d', { a: { b: 'B', c: [{ d: 'D' }] } }],
    ['a.c[2].d, a.c[2].e', { a: { c: [{ d: 'D', e: 1 }] } }],
    ['l[2], l[0]', { l: ['0', '2'] }],
    ['l[0].x, l[1]', { l: ['1'] }],
    ['l[7]', {}],
    ['a.absent', {}],
    ['b.c', {}],
    ['a[0]', {}],
    ['l.a', {}],
    ['toString, hasOwnProperty', {}],
  ])('%s', (text, expected) => {
    expect(projected(text)).toEqual(expected)
  })
})

describe('a projection that AWS refuses', () => {
  test.each([
    ['', 'The expression can not be empty;'],
    ['b,', 'Syntax error; token: "<EOF>", near: ","'],
    ['a b', 'Syntax error; token: "b", near: "a b"'],
    ['size(a)', 'Syntax error; token: "(", near: "size(a"'],
    [':v', 'Syntax error; token: ":v", near: ":v"'],
    ['name', 'Attribute name is a reserved keyword; reserved keyword: name'],
    [
      '#x',
      'An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'b, b',
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [b], path two: [b]',
    ],
    [
      'a.b, #a',
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]',
    ],
    [
      'l, l[0]',
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [l], path two: [l, [0]]',
    ],
    [
      'a[0], a.b',
      'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, [0]], path two: [a, b]',
    ],
    [`a${'.b'.repeat(32)}`, 'The document path has too many nesting levels; nesting levels: 33'],
  ])('%j', (text, message) => {
    expect(() => projected(text)).toThrow(`Invalid ProjectionExpression: ${message}`)
  })
})

describe('a projection to whole attributes', () => {
  const whole = (names: string[], any: Item) => {
    const placeholders = names.map((name, n): [string, string] => [`#n${n}`, name])
    const text = placeholders.map(([placeholder]) => placeholder).join(', ')
    const byPlaceholder = createPlaceholders(Object.fromEntries(placeholders))
    return project(parseProjection(text, byPlaceholder), any)
  }

  test('returns each of them as it is, whatever its name', () => {
    fc.assert(
      fc.property(anyItem, (any) => {
        fc.pre(Object.keys(any).length > 0 && !Object.hasOwn(any, ''))
        const all = whole(Object.keys(any), any)
        expect(new Set(Object.keys(all))).toEqual(new Set(Object.keys(any)))
        for (const name of Object.keys(any)) expect(all[name]).toBe(any[name])
        expect(Object.getPrototypeOf(all)).toBe(Object.prototype)
      }),
    )
  })

  test('does not return what objects inherit', () => {
    expect(whole(['toString', '__proto__', 'constructor'], item)).toEqual({})
  })
})
