/** Collects the document paths in expressions, for checks against the keys of a table or an index. */
import type { Assigned, Update } from './bind-update.ts'
import type { Condition } from './condition.ts'
import type { Operand } from './operands.ts'
import type { Path } from './paths.ts'

/** Every path in a condition, from left to right. */
export function pathsOf(condition: Condition, paths: Path[] = []): Path[] {
  switch (condition.type) {
    case 'and':
    case 'or':
      for (const part of condition.conditions) pathsOf(part, paths)
      return paths
    case 'not':
      return pathsOf(condition.condition, paths)
    case 'exists':
      paths.push(condition.path)
      return paths
    default:
      for (const operand of operandsOf(condition)) {
        const inner = operand.type === 'size' ? operand.of : operand
        if (inner.type === 'path') paths.push(inner.path)
      }
      return paths
  }
}

/** The paths of a condition that compares operands. */
type Leaf = Exclude<Condition, { type: 'and' | 'or' | 'not' | 'exists' }>

export function operandsOf(condition: Leaf): readonly Operand[] {
  switch (condition.type) {
    case 'between':
      return [condition.operand, condition.low, condition.high]
    case 'in':
      return [condition.operand, ...condition.choices]
    case 'attribute_type':
      return [condition.operand]
    default:
      return [condition.left, condition.right]
  }
}

/** Every path that an update reads; the paths it writes are in `paths`. */
export function pathsReadBy({ actions }: Update): Path[] {
  const paths: Path[] = []
  for (const action of actions) if (action.type === 'SET') addPathsOf(action.assigned, paths)
  return paths
}

function addPathsOf(assigned: Assigned, paths: Path[]): void {
  switch (assigned.type) {
    case 'value':
      return
    case 'path':
      paths.push(assigned.path)
      return
    case 'if_not_exists':
      paths.push(assigned.path)
      return addPathsOf(assigned.otherwise, paths)
    case 'list_append':
    case 'arithmetic':
      addPathsOf(assigned.left, paths)
      return addPathsOf(assigned.right, paths)
  }
}
