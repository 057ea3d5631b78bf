/**
 * AttributeUpdates and AttributesToGet, the predecessors of UpdateExpression and ProjectionExpression.
 * They contain top-level attributes only, and are converted to the same trees.
 */
import type { AttributeUpdate } from '../db.ts'
import { validationError } from '../errors.ts'
import type { Action, Update } from '../expressions/bind-update.ts'
import type { Path, PathBranches } from '../expressions/paths.ts'
import type { Projection } from '../expressions/projection.ts'
import { checkAttributeName, type TypeName, typeOf } from '../values/types.ts'
import type { Form } from './form.ts'

export function readAttributeUpdates(
  form: Form,
  updates: Record<string, AttributeUpdate>,
): Update | undefined {
  const entries = Object.entries(updates)
  if (entries.length === 0) return undefined
  for (const [name] of entries) checkAttributeName(name)
  const actions = entries.map(([, update]) => actionOf(form, update))
  const paths = entries.map(([name]): Path => [name])
  const branches: PathBranches<number> = new Map(
    entries.map(([name], leaf) => [name, { path: [name], leaf }]),
  )
  return { actions, paths, branches, mismatch: 'Type mismatch for attribute to update' }
}

const SETS: readonly TypeName[] = ['SS', 'NS', 'BS']
const ADDABLE: readonly TypeName[] = ['N', 'L', ...SETS]

function actionOf(form: Form, update: AttributeUpdate): Action {
  const action = update.Action ?? 'PUT'
  if (!form.isGiven(update.Value)) {
    if (action === 'DELETE') return { type: 'REMOVE' }
    throw invalid('Only DELETE action is allowed when no attribute value is specified')
  }
  const value = form.ownValue(update.Value)
  if (action === 'PUT') return { type: 'SET', assigned: { type: 'value', value } }
  const type = typeOf(value)
  if (action === 'ADD' && !ADDABLE.includes(type)) {
    throw invalid(`ADD action is not supported for the type ${type}`)
  }
  if (action === 'DELETE' && !SETS.includes(type)) {
    throw invalid(`DELETE action with value is not supported for the type ${type}`)
  }
  return { type: action, value }
}

export function readAttributesToGet(names: readonly string[]): Projection {
  const branches: PathBranches<unknown> = new Map()
  for (const name of names) {
    checkAttributeName(name)
    if (branches.has(name)) throw invalid(`Duplicate value in attribute name: ${name}`)
    branches.set(name, { path: [name], leaf: undefined })
  }
  return { paths: names.map((name) => [name]), branches }
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}
