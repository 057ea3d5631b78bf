/**
 * Update expressions: what they make of an item. Every operand is read from the item as it was
 * before, and every index means the place an element had before: removals do not shift later
 * actions, and elements set beyond the end of a list are appended in the order of their indexes.
 *
 * The old item stays as it is; lists and maps on the way to a change are copied, all else is
 * shared between the two.
 */
import { validationError } from '../errors.ts'
import { assertDepth } from '../values/depth.ts'
import { addNumbers, subtractNumbers } from '../values/numbers.ts'
import { difference, union } from '../values/sets.ts'
import {
  attribute,
  isMap,
  type Item,
  NumberValue,
  setAttribute,
  type SetValue,
  typeOf,
  type Value,
} from '../values/types.ts'
import { type Action, type Assigned, boundUpdate, type Update } from './bind-update.ts'
import { cachedByText } from './cache.ts'
import { checkUpdateSyntax } from './check-syntax.ts'
import { updateSyntax } from './parse-update.ts'
import { type Path, type PathBranches, type PathTree, valueAt } from './paths.ts'
import type { Placeholders } from './placeholders.ts'
import { projectedMap } from './projection.ts'

export type { Update } from './bind-update.ts'

const parse = cachedByText((text) => {
  const syntax = updateSyntax(text)
  checkUpdateSyntax(syntax)
  return syntax.actions
})

export function parseUpdate(text: string, placeholders: Placeholders): Update {
  return boundUpdate(parse(text), placeholders)
}

/** What UPDATED_OLD (given the old item) or UPDATED_NEW (given the new one) shows. */
export function updatedAttributes(update: Update, item: Item): Item {
  return projectedMap(update.branches, item)
}

/** The top-level names the update may change. */
export function updateTargets(update: Update): readonly string[] {
  return [...update.branches.keys()] as string[]
}

/** The item after the update, and the paths that the update names. */
export function applyUpdate(update: Update, item: Item): { item: Item; paths: readonly Path[] } {
  const change = new Change(update.actions, item)
  return { item: change.map(update.branches, item, 1), paths: update.paths }
}

/** One application of an update; `level` counts how deep the list or map stands in the item. */
class Change {
  readonly #actions: readonly Action[]
  readonly #item: Item

  constructor(actions: readonly Action[], item: Item) {
    this.#actions = actions
    this.#item = item
  }

  map(branches: PathBranches<number>, map: Item, level: number): Item {
    const changed = { ...map }
    for (const [part, tree] of branches) {
      if (typeof part === 'number') throw invalidPath()
      const value = this.#part(tree, attribute(map, part), level)
      if (value === undefined) delete changed[part]
      else setAttribute(changed, part, value)
    }
    return changed
  }

  #list(branches: PathBranches<number>, list: Value[], level: number): Value[] {
    const changed: (Value | undefined)[] = list.slice()
    const appended: [index: number, value: Value][] = []
    for (const [part, tree] of branches) {
      if (typeof part === 'string') throw invalidPath()
      const value = this.#part(tree, list[part], level)
      if (part < list.length) changed[part] = value
      else if (value !== undefined) appended.push([part, value])
    }
    appended.sort((a, b) => a[0] - b[0])
    const result = changed.filter((element) => element !== undefined)
    for (const [, value] of appended) result.push(value)
    return result
  }

  /** The new value of a place; undefined if nothing is to stand there. */
  #part(tree: PathTree<number>, old: Value | undefined, level: number): Value | undefined {
    if (tree.branches) {
      if (Array.isArray(old)) return this.#list(tree.branches, old, level + 1)
      if (isMap(old)) return this.map(tree.branches, old, level + 1)
      throw invalidPath()
    }
    const action = this.#actions[tree.leaf] as Action
    switch (action.type) {
      case 'REMOVE':
        return undefined
      case 'SET': {
        const value = assignedValue(action.assigned, this.#item)
        assertDepth(value, level)
        return value
      }
      case 'ADD':
        return old === undefined ? action.value : sumOf(old, action.value)
      case 'DELETE':
        return old === undefined ? undefined : remainder(old, action.value)
    }
  }
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
      const value = valueAt(item, assigned.path)
      return value === undefined ? assignedValue(assigned.otherwise, item) : value
    }
    case 'list_append': {
      const left = assignedValue(assigned.left, item)
      const right = assignedValue(assigned.right, item)
      if (!Array.isArray(left) || !Array.isArray(right)) throw incorrectType()
      return [...left, ...right]
    }
    case 'arithmetic': {
      const left = assignedValue(assigned.left, item)
      const right = assignedValue(assigned.right, item)
      if (!isNumber(left) || !isNumber(right)) throw incorrectType()
      return assigned.operator === '+' ? addNumbers(left, right) : subtractNumbers(left, right)
    }
  }
}

function sumOf(old: Value, value: Value): Value {
  if (isNumber(old) && isNumber(value)) return addNumbers(old, value)
  if (!(old instanceof Set) || typeOf(old) !== typeOf(value)) throw incorrectType()
  return union(old, value as SetValue)
}

/** A set that would be empty is no value at all. */
function remainder(old: Value, value: Value): Value | undefined {
  if (!(old instanceof Set) || typeOf(old) !== typeOf(value)) throw incorrectType()
  const left = difference(old, value as SetValue)
  return left.size > 0 ? left : undefined
}

function isNumber(value: Value): value is number | NumberValue {
  return typeof value === 'number' || value instanceof NumberValue
}

function invalidPath() {
  return validationError(
    'The document path provided in the update expression is invalid for update',
  )
}

function incorrectType() {
  return validationError('An operand in the update expression has an incorrect data type')
}
