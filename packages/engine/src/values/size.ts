import type { Item, Value } from './types.ts'

export function valueSize(_value: Value): number {
  throw new Error('not yet')
}
export function itemSize(_item: Item): number {
  throw new Error('not yet')
}
