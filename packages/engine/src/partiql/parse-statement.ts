/** Parses statements: SELECT, INSERT, UPDATE, DELETE, and EXISTS with a SELECT. */
import { validationError } from '../errors.ts'
import { cachedByText } from '../expressions/cache.ts'
import { checkConditionSyntax, checkPath, checkUpdateSyntax } from '../expressions/check-syntax.ts'
import type {
  ActionSyntax,
  ArithmeticSyntax,
  ConditionSyntax,
  OperandSyntax,
  PathSyntax,
} from '../expressions/syntax.ts'
import { isKeyword } from './tokens.ts'
import { whereClause } from './parse-where.ts'
import { StatementParser } from './parser.ts'
import type { Change, Returning, Select, Statement } from './syntax.ts'
import { withoutKind } from './errors.ts'

export const parseStatement = cachedByText((text): Statement => {
  const parser = new StatementParser(text)
  const body = parseStatementBody(parser)
  parser.skip(';')
  if (parser.token.kind !== 'end') throw parser.malformed()
  const { names, literals, parameters } = parser
  return { body, names, literals, parameters }
})

function parseStatementBody(parser: StatementParser): Statement['body'] {
  if (parser.isWord('select')) return select(parser)
  if (parser.skipWord('insert')) return insert(parser)
  if (parser.skipWord('update')) return update(parser)
  if (parser.skipWord('delete')) return remove(parser)
  if (parser.skipWord('exists')) {
    parser.expect('(')
    const inner = select(parser)
    parser.expect(')')
    return { type: 'exists', select: inner }
  }
  if (parser.token.kind === 'word' && !isKeyword(parser.token.text.toLowerCase())) {
    throw validationError('Unsupported operation: VariableReference')
  }
  throw parser.malformed()
}

function select(parser: StatementParser): Select {
  parser.expectWord('select')
  const paths = selection(parser)
  parser.expectWord('from')
  const from = source(parser)
  const where = optionalWhere(parser)
  const order = orderBy(parser)
  for (const clause of ['group', 'having', 'limit', 'offset']) {
    if (parser.isWord(clause)) {
      throw validationError(
        `Unsupported clause: ${clause === 'group' ? 'GROUP BY' : clause.toUpperCase()}`,
      )
    }
  }
  return { type: 'select', ...from, ...(paths && { paths }), ...(where && { where }), order }
}

function selection(parser: StatementParser): PathSyntax[] | undefined {
  if (parser.skip('*')) return undefined
  if (parser.isWord('distinct')) {
    throw validationError('Unsupported token in expression: DISTINCT')
  }
  if (parser.isWord('value') || parser.isWord('pivot')) {
    throw validationError("Select projection doesn't support value or pivot keywords")
  }
  return parser.list(() => {
    const operand = parser.operand()
    refuseAlias(parser)
    if (operand.type !== 'path' || !(parser.is(',') || parser.isWord('from'))) {
      if (operand.type === 'path' && parser.token.kind === 'end') throw parser.malformed()
      throw validationError('Unexpected path component')
    }
    withoutKind(() => checkPath('ProjectionExpression', operand))
    return operand
  })
}

function refuseAlias(parser: StatementParser): void {
  const { kind, text } = parser.token
  const isName = kind === 'name' || (kind === 'word' && !isKeyword(text.toLowerCase()))
  if (isName || parser.isWord('as')) throw validationError('Aliasing is not supported')
}

function source(parser: StatementParser): { table: string; index?: string } {
  const table = parser.name()
  const index = parser.skip('.') ? parser.name() : undefined
  refuseAlias(parser)
  return index === undefined ? { table } : { table, index }
}

/** The table of a statement that writes; an index cannot be written. */
function target(parser: StatementParser): string {
  const { table, index } = source(parser)
  if (index !== undefined) throw validationError('This operation is not supported on an index')
  return table
}

function optionalWhere(parser: StatementParser): ConditionSyntax | undefined {
  if (!parser.skipWord('where')) return undefined
  const where = whereClause(parser)
  withoutKind(() => checkConditionSyntax('ConditionExpression', where))
  return where
}

function orderBy(parser: StatementParser): Select['order'] {
  if (!parser.skipWord('order', 'by')) return []
  return parser.list(() => {
    const name = parser.name()
    const descending = parser.skipWord('desc')
    if (!descending) parser.skipWord('asc')
    return { name, descending }
  })
}

function insert(parser: StatementParser): Statement['body'] {
  parser.expectWord('into')
  const table = target(parser)
  parser.expectWord('value')
  if (!parser.skip('{')) {
    throw validationError(
      'Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.',
    )
  }
  const item = parser.entries(() => parser.literal())
  if (parser.isWord('returning')) throw validationError('RETURNING is not supported in INSERT')
  return { type: 'insert', table, item }
}

function update(parser: StatementParser): Change {
  const table = target(parser)
  const actions: ActionSyntax[] = []
  do {
    if (parser.skipWord('set')) actions.push(...parser.list(() => assignment(parser)))
    else if (parser.skipWord('remove')) actions.push({ type: 'REMOVE', path: parser.path() })
    else throw parser.malformed()
  } while (parser.isWord('set') || parser.isWord('remove'))
  withoutKind(() => checkUpdateSyntax({ actions }))
  const where = optionalWhere(parser)
  const returning = returningClause(parser)
  return {
    type: 'update',
    table,
    actions,
    ...(where && { where }),
    ...(returning && { returning }),
  }
}

function assignment(parser: StatementParser): ActionSyntax {
  const path = parser.path()
  parser.expect('=')
  const value = parseAssignedValue(parser)
  if (value.type !== 'call' || (value.name !== 'set_add' && value.name !== 'set_delete')) {
    return { type: 'SET', path, value }
  }
  const [of, members] = value.operands
  const isSame = of?.type === 'path' && samePath(parser, path, of)
  if (!isSame || members?.type !== 'value' || value.operands.length !== 2) {
    throw validationError(
      `The first argument to ${value.name.toUpperCase()} must equal the assignment value`,
    )
  }
  return { type: value.name === 'set_add' ? 'ADD' : 'DELETE', path, value: members }
}

function samePath({ names }: StatementParser, one: PathSyntax, other: PathSyntax): boolean {
  const plain = ({ parts }: PathSyntax) =>
    parts.map((part) => (typeof part === 'string' ? names[Number(part.slice(1))] : part))
  const [left, right] = [plain(one), plain(other)]
  return left.length === right.length && left.every((part, at) => part === right[at])
}

function parseAssignedValue(parser: StatementParser): OperandSyntax | ArithmeticSyntax {
  const left = parser.operand()
  const operator = parser.is('+') ? '+' : '-'
  if (!parser.skip(operator)) return left
  return { type: 'arithmetic', operator, left, right: parser.operand() }
}

function remove(parser: StatementParser): Change {
  parser.expectWord('from')
  const table = target(parser)
  const where = optionalWhere(parser)
  const returning = returningClause(parser)
  if (returning && returning !== 'ALL_OLD') {
    const words = `${returning.replace('UPDATED', 'MODIFIED').replace('_', ' ')} *`
    throw validationError(
      `Invalid returning clause: RETURNING ${words}. Only RETURNING ALL OLD * is allowed in DELETE statements.`,
    )
  }
  return {
    type: 'delete',
    table,
    actions: [],
    ...(where && { where }),
    ...(returning && { returning }),
  }
}

function returningClause(parser: StatementParser): Returning | undefined {
  if (!parser.skipWord('returning')) return undefined
  const isAll = parser.skipWord('all')
  if (!isAll) parser.expectWord('modified')
  const isOld = parser.skipWord('old')
  if (!isOld) parser.expectWord('new')
  if (!parser.skip('*')) {
    throw validationError("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")
  }
  return `${isAll ? 'ALL' : 'UPDATED'}_${isOld ? 'OLD' : 'NEW'}`
}
