/**
 * Binds a parsed update to the placeholders of a request, with the checks that AWS makes before it reads
 * the item: first all targets, then all values. Of several mistakes the last one is reported.
 */
import { typeOf, type Value } from '../values/types.ts'
import {
  assertDistinct,
  assertOperandCount,
  bindPath,
  bindValue,
  incorrectType,
  type PathOperand,
  requiresPath,
  type ValueOperand,
} from './operands.ts'
import { expressionError } from './parser.ts'
import { addPath, type Path, type PathBranches } from './paths.ts'
import type { Placeholders } from './placeholders.ts'
import type { ActionSyntax, ArithmeticSyntax, OperandSyntax } from './syntax.ts'

const KIND = 'UpdateExpression'

/** A value that SET assigns. */
export type Assigned =
  | PathOperand
  | ValueOperand
  | { readonly type: 'if_not_exists'; readonly path: Path; readonly otherwise: Assigned }
  | { readonly type: 'list_append'; readonly left: Assigned; readonly right: Assigned }
  | {
      readonly type: 'arithmetic'
      readonly operator: '+' | '-'
      readonly left: Assigned
      readonly right: Assigned
    }

export type Action =
  | { readonly type: 'SET'; readonly assigned: Assigned }
  | { readonly type: 'REMOVE' }
  | { readonly type: 'ADD' | 'DELETE'; readonly value: Value }

export interface Update {
  readonly actions: readonly Action[]
  readonly paths: readonly Path[]
  /** The paths as a tree; a leaf is the index of its action. */
  readonly branches: PathBranches<number>
  /** Replaces the usual message for an ADD or DELETE that does not fit the attribute's type. */
  readonly mismatch?: string
}

export function bindUpdate(syntax: readonly ActionSyntax[], placeholders: Placeholders): Update {
  const paths: Path[] = []
  const branches: PathBranches<number> = new Map()
  for (let index = syntax.length - 1; index >= 0; index--) {
    const path = bindPath(KIND, (syntax[index] as ActionSyntax).path, placeholders)
    addPath(branches, path, index, KIND)
    paths[index] = path
  }
  const actions: Action[] = []
  for (let index = syntax.length - 1; index >= 0; index--) {
    actions[index] = boundAction(syntax[index] as ActionSyntax, placeholders)
  }
  return { actions, paths, branches }
}

function boundAction(action: ActionSyntax, placeholders: Placeholders): Action {
  if (action.type === 'REMOVE') return { type: 'REMOVE' }
  if (action.type === 'SET') {
    return { type: 'SET', assigned: bindAssigned(action.value, placeholders) }
  }
  const value = bindValue(KIND, action.value, placeholders)
  const type = typeOf(value)
  const isSet = type === 'SS' || type === 'NS' || type === 'BS'
  if (!isSet && !(action.type === 'ADD' && type === 'N')) {
    throw expressionError(
      KIND,
      `Incorrect operand type for operator or function; operator: ${action.type}, operand type: ${TYPE_WORDS[type]}, typeSet: ALLOWED_FOR_${action.type}_OPERAND`,
    )
  }
  return { type: action.type, value }
}

const TYPE_WORDS = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  L: 'LIST',
  M: 'MAP',
  SS: 'STRING_SET',
  NS: 'NUMBER_SET',
  BS: 'BINARY_SET',
}

function bindAssigned(
  syntax: OperandSyntax | ArithmeticSyntax,
  placeholders: Placeholders,
): Assigned {
  switch (syntax.type) {
    case 'path':
      return { type: 'path', path: bindPath(KIND, syntax, placeholders) }
    case 'value':
      return { type: 'value', value: bindValue(KIND, syntax, placeholders) }
    case 'arithmetic': {
      const left = bindAssigned(syntax.left, placeholders)
      const right = bindAssigned(syntax.right, placeholders)
      assertType(syntax.operator, 'N', left)
      assertType(syntax.operator, 'N', right)
      return { type: 'arithmetic', operator: syntax.operator, left, right }
    }
    case 'call':
      return boundCall(
        syntax.name,
        syntax.operands.map((operand) => bindAssigned(operand, placeholders)),
      )
  }
}

function boundCall(name: string, operands: Assigned[]): Assigned {
  assertOperandCount(KIND, name, operands.length, 2)
  const [left, right] = operands as [Assigned, Assigned]
  if (name === 'if_not_exists') {
    if (left.type !== 'path') throw requiresPath(KIND, name)
    assertDistinct(KIND, name, left, [right])
    return { type: 'if_not_exists', path: left.path, otherwise: right }
  }
  assertType(name, 'L', left)
  assertType(name, 'L', right)
  return { type: 'list_append', left, right }
}

/** Only the type of a value in the request is known before the item is read. */
function assertType(operator: string, expected: 'N' | 'L', operand: Assigned): void {
  if (operand.type !== 'value') return
  const type = typeOf(operand.value)
  if (type !== expected) throw incorrectType(KIND, operator, type)
}
