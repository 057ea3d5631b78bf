/** A filter as rows of a form, with the values as they are typed, and back. */
import type { Filter, FilterRule } from '@strongroom/ferryhook/filters/filter'
import type { Condition, Operator } from '@strongroom/ferryhook/filters/condition'

export interface ConditionRow {
  kind: 'condition'
  path: string
  operator: Operator
  /** JSON where it is not text: `true`, `10`, `"10"`; a list with commas for `in`. */
  text: string
}

export interface GroupRow {
  kind: 'group'
  mode: 'all' | 'any' | 'not'
  rows: FilterRow[]
}

export type FilterRow = ConditionRow | GroupRow

/** In the order in which people look for them. */
export const OPERATORS: readonly (readonly [operator: Operator, label: string])[] = [
  ['equals', 'equals'],
  ['not_equals', 'not equals'],
  ['in', 'in'],
  ['contains', 'contains'],
  ['not_contains', 'contains not'],
  ['starts_with', 'starts with'],
  ['ends_with', 'ends with'],
  ['regex', 'regex'],
  ['exists', 'exists'],
  ['not_exists', 'exists not'],
  ['gt', 'more than'],
  ['gte', 'at least'],
  ['lt', 'less than'],
  ['lte', 'at most'],
]

export function hasValue(operator: Operator): boolean {
  return operator !== 'exists' && operator !== 'not_exists'
}

export const newCondition = (): ConditionRow => ({
  kind: 'condition',
  path: '$.type',
  operator: 'equals',
  text: '',
})

export function toRows(filter: Filter): FilterRow[] {
  return filter.map(toRow)
}

function toRow(rule: FilterRule): FilterRow {
  if ('all' in rule) return { kind: 'group', mode: 'all', rows: rule.all.map(toRow) }
  if ('any' in rule) return { kind: 'group', mode: 'any', rows: rule.any.map(toRow) }
  if ('not' in rule) return { kind: 'group', mode: 'not', rows: [toRow(rule.not)] }
  const { path, operator, value } = rule
  const text =
    Array.isArray(value) && operator === 'in' ? value.map(toText).join(', ') : toText(value)
  return { kind: 'condition', path, operator, text }
}

export function toFilter(rows: readonly FilterRow[]): Filter {
  return rows.map(toRule)
}

function toRule(row: FilterRow): FilterRule {
  if (row.kind === 'group') {
    const rules = row.rows.map(toRule)
    if (row.mode === 'any') return { any: rules }
    if (row.mode === 'all') return { all: rules }
    const [only] = rules
    return { not: rules.length === 1 && only ? only : { all: rules } }
  }
  const { path, operator, text } = row
  const condition: Condition = { path: path.trim(), operator }
  if (!hasValue(operator)) return condition
  return { ...condition, value: toValue(operator, text) }
}

function toValue(operator: Operator, text: string): unknown {
  if (operator === 'in') {
    const asList = parsed(`[${text}]`)
    if (Array.isArray(asList)) return asList
    return text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(scalar)
  }
  if (operator === 'regex' || operator === 'starts_with' || operator === 'ends_with') return text
  return scalar(text.trim())
}

/** Text unless it is a number, a boolean, null, or text in quotation marks. */
function scalar(text: string): unknown {
  const value = parsed(text)
  return value === undefined ? text : value
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  // Text that would be read as something else needs quotation marks.
  return parsed(value) === undefined && !value.includes(',') ? value : JSON.stringify(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export function countConditions(rows: readonly FilterRow[]): number {
  return rows.reduce((sum, row) => sum + (row.kind === 'group' ? countConditions(row.rows) : 1), 0)
}
