import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Db } from '../src/db.ts'
import { entity } from '../src/entity.ts'
import { all, contains, expr, oneOf, Placeholders, sizeOf } from '../src/expression.ts'
import { defineTable } from '../src/table.ts'

const table = defineTable({
  name: 'letters',
  description: 'Letters',
  partitionKey: { name: 'id', type: 'S' },
  pointInTimeRecovery: false,
})

const Letter = z.object({
  id: z.string(),
  'views-left': z.number(),
  state: z.enum(['sealed', 'open']),
  body: z.custom<Uint8Array>(),
  tags: z.set(z.string()),
  pages: z.array(z.object({ text: z.string() })),
  claims: z.record(z.string(), z.number()),
  note: z.string().optional(),
})

const { attr } = entity({} as Db, table, Letter)

function rendered(expression: Parameters<Placeholders['render']>[0] | undefined) {
  const placeholders = new Placeholders()
  return { text: expression && placeholders.render(expression), ...placeholders.parameters() }
}

describe('an expression', () => {
  test('becomes DynamoDB text with one placeholder for each name', () => {
    expect(rendered(expr`SET ${attr('views-left')} = ${attr('views-left')} - ${1}`)).toEqual({
      text: 'SET #0 = #0 - :0',
      ExpressionAttributeNames: { '#0': 'views-left' },
      ExpressionAttributeValues: { ':0': 1 },
    })
  })

  test('without names or values leaves out the empty parameters', () => {
    expect(rendered(expr`attribute_exists(${attr('id')})`)).toEqual({
      text: 'attribute_exists(#0)',
      ExpressionAttributeNames: { '#0': 'id' },
    })
  })

  test('reaches into maps and lists', () => {
    const path = expr`${attr('pages', 0, 'text')} = ${'x'} AND ${attr('claims', 'c1')} > ${5}`
    expect(rendered(path).text).toBe('#0[0].#1 = :0 AND #2.#3 > :1')
  })

  test('can contain another expression', () => {
    const open = expr`${attr('state')} = ${'open'}`
    expect(rendered(expr`NOT (${open})`).text).toBe('NOT (#0 = :0)')
  })

  test('joins conditions with AND and leaves out undefined ones', () => {
    const open = expr`${attr('state')} = ${'open'}`
    expect(all(undefined, undefined)).toBeUndefined()
    expect(all(undefined, open)).toBe(open)
    expect(rendered(all(open, undefined, expr`${attr('views-left')} > ${0}`)).text).toBe(
      '(#0 = :0) AND (#1 > :1)',
    )
  })

  test('has contains, size and IN as functions', () => {
    expect(rendered(contains(attr('tags'), 'urgent')).text).toBe('contains(#0, :0)')
    expect(rendered(expr`${sizeOf(attr('tags'))} = ${1}`).text).toBe('size(#0) = :0')
    expect(rendered(oneOf(attr('state'), ['sealed', 'open'])).text).toBe('#0 IN (:0, :1)')
  })
})

describe('the compiler rejects', () => {
  test('each of these mistakes', () => {
    // @ts-expect-error an attribute the item does not have
    attr('viewsLeft')
    // @ts-expect-error a place that is not inside the attribute
    attr('pages', 0, 'txt')
    // @ts-expect-error lists have positions, not the properties of arrays
    attr('pages', 'length')
    // @ts-expect-error nothing is inside a string
    attr('id', 0)
    // @ts-expect-error nothing is inside a set
    attr('tags', 'size')
    // @ts-expect-error nothing is inside bytes
    attr('body', 0)
    // @ts-expect-error a string compared with a number
    expr`${attr('views-left')} > ${'0'}`
    // @ts-expect-error a value outside the enumeration
    expr`${attr('state')} = ${'closed'}`
    // @ts-expect-error arithmetic on a string
    expr`SET ${attr('id')} = ${attr('id')} + ${1}`
    // @ts-expect-error a string where bytes are stored
    expr`SET ${attr('body')} = ${'text'}`
    // @ts-expect-error an array where a set is stored
    expr`ADD ${attr('tags')} ${['urgent']}`
    // @ts-expect-error an element of another type
    contains(attr('tags'), 5)
    // @ts-expect-error a value that no attribute stands before
    expr`${5} < ${attr('views-left')}`
    // @ts-expect-error undefined is no value
    expr`SET ${attr('note')} = ${undefined}`
    // Nothing ran into a store: the compiler is what is tested here.
    expect(attr('note').path).toEqual(['note'])
  })
})
