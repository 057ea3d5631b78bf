/**
 * Parses updates: the sections SET, REMOVE, ADD and DELETE in any order, each with a list of actions. A
 * repeated section is only recorded, because AWS reports it after other errors.
 */
import { Parser } from './parser.ts'
import type { ActionSyntax, ArithmeticSyntax, OperandSyntax, UpdateSyntax } from './syntax.ts'

export function updateSyntax(text: string): UpdateSyntax {
  const parser = new Parser('UpdateExpression', text)
  const actions: ActionSyntax[] = []
  const sections = new Set<string>()
  let repeatedSection: string | undefined
  do {
    const section = sectionKeyword(parser)
    if (sections.has(section)) repeatedSection ??= section
    sections.add(section)
    for (const action of parser.list(() => actionOf(section, parser))) actions.push(action)
  } while (parser.kind !== 'end')
  parser.expect('end')
  return repeatedSection === undefined ? { actions } : { actions, repeatedSection }
}

type Section = ActionSyntax['type']

function sectionKeyword(parser: Parser): Section {
  switch (parser.kind) {
    case 'SET':
    case 'REMOVE':
    case 'ADD':
    case 'DELETE':
      return parser.take().toUpperCase() as Section
    default:
      throw parser.syntaxError()
  }
}

function actionOf(section: Section, parser: Parser): ActionSyntax {
  const path = parser.path()
  if (section === 'REMOVE') return { type: section, path }
  if (section === 'SET') {
    parser.expect('=')
    return { type: section, path, value: setValue(parser) }
  }
  return { type: section, path, value: { type: 'value', placeholder: parser.expect(':value') } }
}

/** An operand, a sum or a difference; a sum in parentheses cannot be an operand of another. */
function setValue(parser: Parser): OperandSyntax | ArithmeticSyntax {
  const left = parser.skipIf('(') ? parser.enclosed(() => setValue(parser)) : parser.operand()
  if (left.type === 'arithmetic') return left
  if (parser.kind !== '+' && parser.kind !== '-') return left
  const operator = parser.take() as '+' | '-'
  return { type: 'arithmetic', operator, left, right: parser.operand() }
}
