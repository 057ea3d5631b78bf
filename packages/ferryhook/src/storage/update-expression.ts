/**
 * Builds an update expression from changes: values are set, undefined removes the attribute. Changes
 * are validated against the schema first, because DynamoDB accepts anything.
 */
import type { Item, Value } from '@strongroom/kit/db'
import { Attr, Expression } from '@strongroom/kit/expression'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import type { Table } from '@strongroom/kit/table'
import * as z from 'zod'

export function updateExpression(
  table: Table,
  allowed: z.ZodObject,
  key: Item,
  changes: object,
): Expression {
  validateChanges(table, allowed, key, changes)
  const entries = Object.entries(changes) as [string, Value | undefined][]
  const set = entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const removed = entries.filter(([, value]) => value === undefined)

  const text = ['']
  const parts: (Attr<unknown> | Value)[] = []
  const write = (before: string, part: Attr<unknown> | Value) => {
    text[text.length - 1] += before
    parts.push(part)
    text.push('')
  }
  for (const [index, [name, value]] of (set as [string, Value][]).entries()) {
    write(index === 0 ? 'SET ' : ', ', new Attr([name]))
    write(' = ', value)
  }
  for (const [index, [name]] of removed.entries()) {
    write(index === 0 ? ' REMOVE ' : ', ', new Attr([name]))
  }
  return new Expression(text, parts)
}

/** Validates the values of a hand-written update. */
export function validateChanges(
  table: Table,
  allowed: z.ZodObject,
  key: Item,
  changes: object,
): void {
  const entries = Object.entries(changes)
  // Attribute by attribute, because building a schema for each update is slow.
  const isValid = ([name, value]: [string, unknown]) =>
    Object.hasOwn(allowed.shape, name) && shapeOf(allowed, name).safeParse(value).success
  if (entries.every(isValid)) return
  const names = Object.keys(changes).filter((name) => Object.hasOwn(allowed.shape, name))
  const shape = Object.fromEntries(names.map((name) => [name, shapeOf(allowed, name)]))
  const { error } = z.strictObject(shape).safeParse(changes)
  if (error) throw new ItemMismatch(table, { ...changes, ...key }, 'write', error)
}

function shapeOf(allowed: z.ZodObject, name: string): z.ZodType {
  return allowed.shape[name] as z.ZodType
}
