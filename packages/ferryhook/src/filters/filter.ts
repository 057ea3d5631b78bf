/**
 * A filter is a list of conditions that must all match, as the specification defines it. A group may
 * take the place of a condition: `{ all: [...] }`, `{ any: [...] }` or `{ not: … }`.
 */
import { z } from '@hono/zod-openapi'
import { Condition, operators, StoredCondition } from './condition.ts'
import { classUnits } from './pattern.ts'

export type FilterRule =
  | Condition
  | { all: readonly FilterRule[] }
  | { any: readonly FilterRule[] }
  | { not: FilterRule }
export type Filter = readonly FilterRule[]

export const MAX_CONDITIONS = 50
/** Bounds the recursion of everything that walks a filter. */
export const MAX_GROUP_DEPTH = 5
/** Unicode classes take long to compile, and a filter is compiled on the event loop. */
const MAX_CLASS_UNITS = 200
/** What fits into a connection, in characters of JSON. */
const MAX_FILTER_LENGTH = 65_536

export const StoredFilter = filterSchema(StoredCondition)

export const Filter = filterSchema(Condition).openapi({
  type: 'array',
  items: { type: 'object' },
  description:
    'Conditions that must all match, each `{ path, operator, value? }` or a group ' +
    "`{ all: [...] }`, `{ any: [...] }`, `{ not: … }`. Paths: `$.a.b[0]`, `$['odd.key']`, " +
    '`$.items[*].id` in the body, `$headers.name`, `$query.name`, `$method`. ' +
    `Operators: ${operators.join(', ')}`,
  example: [
    { path: '$.type', operator: 'in', value: ['invoice.paid', 'invoice.failed'] },
    { not: { path: '$.livemode', operator: 'equals', value: false } },
  ],
})

function filterSchema(condition: typeof Condition) {
  return z
    .custom<Filter>((value) => Array.isArray(value), 'Must be a list of conditions')
    .superRefine((filter, context) => {
      let conditions = 0
      let compileUnits = 0
      // Stops at the first invalid rule, because rejecting a large pattern is expensive.
      if (!filter.every((rule, index) => checkRule(rule, [index], 0))) return
      if (JSON.stringify(filter).length > MAX_FILTER_LENGTH) {
        reject([], `Must be at most ${MAX_FILTER_LENGTH} characters of JSON`)
      }

      function checkRule(rule: unknown, path: (string | number)[], depth: number): boolean {
        const group = groupOf(rule)
        if (!group) return checkCondition(rule, path)
        const [kind, content] = group
        const at = [...path, kind]
        if (depth === MAX_GROUP_DEPTH) {
          return reject(
            path,
            `Is nested too deeply: use at most ${MAX_GROUP_DEPTH} levels of groups`,
          )
        }
        if (kind === 'not') return checkRule(content, at, depth + 1)
        if (!Array.isArray(content) || content.length === 0) {
          return reject(at, 'Must be a list of at least one condition')
        }
        return content.every((inner, index) => checkRule(inner, [...at, index], depth + 1))
      }

      function checkCondition(rule: unknown, path: (string | number)[]): boolean {
        conditions += 1
        if (conditions > MAX_CONDITIONS) {
          return reject(path, `Is one too many: a filter has at most ${MAX_CONDITIONS} conditions`)
        }
        compileUnits += classUnitsOf(rule)
        if (compileUnits > MAX_CLASS_UNITS) {
          return reject(
            path,
            'Uses too many Unicode classes. Use fewer \\p{…}, or narrower ranges.',
          )
        }
        const { error } = condition.safeParse(rule)
        for (const issue of error?.issues ?? []) {
          context.addIssue({ ...issue, path: [...path, ...issue.path] })
        }
        return !error
      }

      function reject(path: (string | number)[], message: string): false {
        context.addIssue({ code: 'custom', path, message })
        return false
      }
    })
}

/** The rule is not validated yet. */
function classUnitsOf(rule: unknown): number {
  const { operator, value } = (rule ?? {}) as Partial<Condition>
  return operator === 'regex' && typeof value === 'string' ? classUnits(value.slice(0, 1_000)) : 0
}

/** An object with exactly one of these names is treated as a group, whatever its content. */
function groupOf(rule: unknown): ['all' | 'any' | 'not', unknown] | undefined {
  if (typeof rule !== 'object' || rule === null || 'path' in rule) return undefined
  const names = Object.keys(rule)
  const [name] = names
  if (names.length !== 1 || (name !== 'all' && name !== 'any' && name !== 'not')) return undefined
  return [name, (rule as Record<string, unknown>)[name]]
}
