import type { Item } from '../values/types.ts'
import type { Placeholders } from './placeholders.ts'

export interface Projection {
  readonly paths: readonly (readonly (string | number)[])[]
}

export function parseProjection(_text: string, _placeholders: Placeholders): Projection {
  throw new Error('not yet')
}
export function project(_projection: Projection, _item: Item): Item {
  throw new Error('not yet')
}
