/**
 * An update expression from a plain object of changes: what is given is set, what is given as
 * undefined is removed. Changes are held to the schema before they reach the store, because the
 * store would take anything.
 */
import type { Item, Value } from '@strongroom/kit/db'
import { Attr, Expression } from '@strongroom/kit/expression'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import type { Table } from '@strongroom/kit/table'
import * as z from 'zod'

export function changeExpression(
  table: Table,
  allowed: z.ZodObject,
  key: Item,
  changes: object,
): Expression {
  requireFit(table, allowed, key, changes)
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

/** For an update that is written by hand: its values as the attributes they go into. */
export function requireFit(table: Table, allowed: z.ZodObject, key: Item, changes: object): void {
  const entries = Object.entries(changes)
  // One attribute after the other: a schema of just these would be made anew for every change.
  const fits = ([name, value]: [string, unknown]) =>
    Object.hasOwn(allowed.shape, name) && shapeOf(allowed, name).safeParse(value).success
  if (entries.every(fits)) return
  const names = Object.keys(changes).filter((name) => Object.hasOwn(allowed.shape, name))
  const given = Object.fromEntries(names.map((name) => [name, shapeOf(allowed, name)]))
  const { error } = z.strictObject(given).safeParse(changes)
  if (error) throw new ItemMismatch(table, { ...changes, ...key }, 'write', error)
}

function shapeOf(allowed: z.ZodObject, name: string): z.ZodType {
  return allowed.shape[name] as z.ZodType
}
