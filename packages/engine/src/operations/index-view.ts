/**
 * The projection of an index. Storage keeps only keys in an index and returns whole items, so the
 * projected attributes are selected here.
 */
import { attribute, type Item, setAttribute } from '../values/types.ts'

export function pick(names: readonly string[] | undefined, item: Item): Item {
  if (!names) return item
  const view: Item = {}
  for (const name of names) {
    const value = attribute(item, name)
    if (value !== undefined) setAttribute(view, name, value)
  }
  return view
}
