import type { Item, Value } from './types.ts'

export function checkedValue(_value: unknown): Value {
  throw new Error('not yet')
}
export function checkedItem(_value: unknown): Item {
  throw new Error('not yet')
}
