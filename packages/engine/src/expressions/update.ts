/**
 * Applies updates to items. Operands and list indexes refer to the item before the update: removals do
 * not shift later actions, and elements set beyond the end of a list are appended in the order of their
 * indexes.
 *
 * The old item is not modified. Lists and maps along the changed paths are copied; everything else is
 * shared between the old and the new item.
 */
import { validationError } from '../errors.ts'
import { assertDepth } from '../values/depth.ts'
import { addNumbers, subtractNumbers } from '../values/numbers.ts'
import { difference, union } from '../values/sets.ts'
import { MAX_ITEM_BYTES, valueSize } from '../values/size.ts'
import {
  isMap,
  type Item,
  NumberValue,
  setAttribute,
  type SetValue,
  typeOf,
  type Value,
} from '../values/types.ts'
import { type Action, type Assigned, bindUpdate, type Update } from './bind-update.ts'
import { cachedByText } from './cache.ts'
import { checkUpdateSyntax } from './check-syntax.ts'
import { updateSyntax } from './parse-update.ts'
import { partOf, type Path, type PathBranches, type PathTree, valueAt } from './paths.ts'
import type { Placeholders } from './placeholders.ts'
import { projectedMap } from './projection.ts'

export type { Update } from './bind-update.ts'

const parse = cachedByText((text) => {
  const syntax = updateSyntax(text)
  checkUpdateSyntax(syntax)
  return syntax.actions
})

export function parseUpdate(text: string, placeholders: Placeholders): Update {
  return bindUpdate(parse(text), placeholders)
}

/** The attributes that UPDATED_OLD (for the old item) or UPDATED_NEW (for the new one) returns. */
export function updatedAttributes(update: Update, item: Item): Item {
  return projectedMap(update.branches, item)
}

/** The top-level names the update may change. */
export function updateTargets(update: Update): readonly string[] {
  return [...update.branches.keys()] as string[]
}

/** Whether the update adds nothing to an item: attributes or members of sets are removed. */
export function onlyRemoves({ actions }: Update): boolean {
  return actions.every(({ type }) => type === 'REMOVE' || type === 'DELETE')
}

/** The item after the update, and the paths in the update. */
export function applyUpdate(update: Update, item: Item): { item: Item; paths: readonly Path[] } {
  const values: (Value | undefined)[] = []
  let bytes = 0
  for (const [index, action] of update.actions.entries()) {
    const value = newValue(action, update.paths[index] as Path, item, update.mismatch)
    values.push(value)
    if (update.actions.length === 1 || value === undefined) continue
    // There may be hundreds of large values, so the limit is checked before they are built.
    bytes += valueSize(value)
    if (bytes > MAX_ITEM_BYTES) throw updatedItemTooLarge()
  }
  return { item: withValues(item, update.branches, values) as Item, paths: update.paths }
}

export function updatedItemTooLarge() {
  return validationError('Item size to update has exceeded the maximum allowed size')
}

/** The new value at the path; undefined removes it. */
function newValue(
  action: Action,
  path: Path,
  item: Item,
  mismatch: string | undefined,
): Value | undefined {
  if (action.type === 'SET') {
    placeOf(path, item)
    const value = assignedValue(action.assigned, item)
    assertDepth(value, path.length)
    return value
  }
  const old = partOf(placeOf(path, item), path[path.length - 1] as string | number)
  if (action.type === 'REMOVE') return undefined
  if (old === undefined) return action.type === 'ADD' ? action.value : undefined
  const change = action.type === 'ADD' ? sumOf : remainder
  return change(old, action.value, mismatch)
}

/** The map or list that contains the last part of the path; it must exist. */
function placeOf(path: Path, item: Item): Value {
  if (path.length === 1) return item
  const place = valueAt(item, path.slice(0, -1))
  const isFitting = typeof path[path.length - 1] === 'number' ? Array.isArray(place) : isMap(place)
  if (place !== undefined && isFitting) return place
  throw validationError('The document path provided in the update expression is invalid for update')
}

/** Copies a map or a list with new values at the leaves below it. */
function withValues(
  old: Value,
  branches: PathBranches<number>,
  values: readonly (Value | undefined)[],
): Value {
  const valueOf = (tree: PathTree<number>, part: string | number) =>
    tree.branches
      ? withValues(partOf(old, part) as Value, tree.branches, values)
      : values[tree.leaf]
  if (Array.isArray(old)) return changedList(old, branches, valueOf)
  const changed = { ...(old as Item) }
  for (const [name, tree] of branches) {
    const value = valueOf(tree, name)
    if (value === undefined) delete changed[name]
    else setAttribute(changed, name as string, value)
  }
  return changed
}

function changedList(
  old: Value[],
  branches: PathBranches<number>,
  valueOf: (tree: PathTree<number>, index: number) => Value | undefined,
): Value[] {
  const elements: (Value | undefined)[] = old.slice()
  const appended: [index: number, value: Value][] = []
  for (const [part, tree] of branches) {
    const index = part as number
    const value = valueOf(tree, index)
    if (index < old.length) elements[index] = value
    else if (value !== undefined) appended.push([index, value])
  }
  const changed = elements.filter((element) => element !== undefined)
  appended.sort((a, b) => a[0] - b[0])
  for (const [, value] of appended) changed.push(value)
  return changed
}

function assignedValue(assigned: Assigned, item: Item): Value {
  switch (assigned.type) {
    case 'value':
      return assigned.value
    case 'path': {
      const value = valueAt(item, assigned.path)
      if (value !== undefined) return value
      throw validationError(
        'The provided expression refers to an attribute that does not exist in the item',
      )
    }
    case 'if_not_exists': {
      // AWS requires the other value to exist even if it is not used.
      const otherwise = assignedValue(assigned.otherwise, item)
      const value = valueAt(item, assigned.path)
      return value === undefined ? otherwise : value
    }
    case 'list_append': {
      const left = assignedValue(assigned.left, item)
      if (!Array.isArray(left)) throw incorrectType()
      const right = assignedValue(assigned.right, item)
      if (!Array.isArray(right)) throw incorrectType()
      return left.concat(right)
    }
    case 'arithmetic': {
      const left = assignedValue(assigned.left, item)
      if (!isNumber(left)) throw incorrectType()
      const right = assignedValue(assigned.right, item)
      if (!isNumber(right)) throw incorrectType()
      return assigned.operator === '+' ? addNumbers(left, right) : subtractNumbers(left, right)
    }
  }
}

/** Only AttributeUpdates can add to a list; an expression that tries is rejected earlier. */
function sumOf(old: Value, value: Value, mismatch: string | undefined): Value {
  if (isNumber(old) && isNumber(value)) return addNumbers(old, value)
  if (Array.isArray(old) && Array.isArray(value)) return old.concat(value)
  if (!(old instanceof Set) || typeOf(old) !== typeOf(value)) throw incorrectType(mismatch)
  return union(old, value as SetValue)
}

/** DynamoDB has no empty sets: an empty result removes the attribute. */
function remainder(old: Value, value: Value, mismatch: string | undefined): Value | undefined {
  if (!(old instanceof Set) || typeOf(old) !== typeOf(value)) throw incorrectType(mismatch)
  const left = difference(old, value as SetValue)
  return left.size > 0 ? left : undefined
}

function isNumber(value: Value): value is number | NumberValue {
  return typeof value === 'number' || value instanceof NumberValue
}

function incorrectType(text = 'An operand in the update expression has an incorrect data type') {
  return validationError(text)
}
