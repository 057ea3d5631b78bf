import type { Item } from '../values/types.ts'
import type { Placeholders } from './placeholders.ts'

export interface Update {
  readonly actions: readonly unknown[]
}
/** A document path: attribute names and list indexes. */
export type Path = readonly (string | number)[]

export function parseUpdate(_text: string, _placeholders: Placeholders): Update {
  throw new Error('not yet')
}
/** The item after the update; the item given is left as it is. */
export function applyUpdate(_update: Update, _item: Item): { item: Item; paths: readonly Path[] } {
  throw new Error('not yet')
}
/** What UPDATED_OLD (given the old item) or UPDATED_NEW (given the new one) shows. */
export function updatedAttributes(_update: Update, _item: Item): Item {
  throw new Error('not yet')
}
/** The top-level names the update may change. */
export function updateTargets(_update: Update): readonly string[] {
  throw new Error('not yet')
}
