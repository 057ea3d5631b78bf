import type { Item } from '../values/types.ts'
import type { Condition } from './condition.ts'

export function evaluate(_condition: Condition, _item: Item | undefined): boolean {
  throw new Error('not yet')
}
