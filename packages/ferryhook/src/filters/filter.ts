/**
 * A filter: a list of conditions that must all hold, as the specification has it. In place of a
 * condition may stand a group: `{ all: [...] }`, `{ any: [...] }` or `{ not: … }`.
 */
import { z } from '@hono/zod-openapi'
import { Condition, operators, StoredCondition } from './condition.ts'

export type FilterRule =
  | Condition
  | { all: readonly FilterRule[] }
  | { any: readonly FilterRule[] }
  | { not: FilterRule }
export type Filter = readonly FilterRule[]

const mostConditions = 50
const deepestGroup = 5
/** What a connection can store, in characters of JSON. */
const longestFilter = 65_536

/** As a connection has it. */
export const StoredFilter = filterOf(StoredCondition)

export const Filter = filterOf(Condition).openapi({
  type: 'array',
  items: { type: 'object' },
  description:
    'Conditions that must all hold, each `{ path, operator, value? }` or a group ' +
    "`{ all: [...] }`, `{ any: [...] }`, `{ not: … }`. Paths: `$.a.b[0]`, `$['odd.key']`, " +
    '`$.items[*].id` in the body, `$headers.name`, `$query.name`, `$method`. ' +
    `Operators: ${operators.join(', ')}`,
  example: [
    { path: '$.type', operator: 'in', value: ['invoice.paid', 'invoice.failed'] },
    { not: { path: '$.livemode', operator: 'equals', value: false } },
  ],
})

function filterOf(conditions: typeof Condition) {
  return z
    .custom<Filter>((value) => Array.isArray(value), 'Is a list of conditions')
    .superRefine((filter, context) => {
      if (!isRightList(filter)) return
      if (JSON.stringify(filter).length > longestFilter) {
        context.addIssue({ code: 'custom', message: `Is longer than ${longestFilter} characters` })
      }

      /** Stops at the first rule that is wrong: a pattern that is too large is expensive to refuse. */
      function isRightList(rules: readonly unknown[]): boolean {
        const counted = { conditions: 0 }
        return rules.every((rule, index) => isRight(rule, [index], 0, counted))
      }

      function isRight(
        rule: unknown,
        path: (string | number)[],
        groups: number,
        counted: { conditions: number },
      ): boolean {
        const group = groupOf(rule)
        if (!group) {
          counted.conditions += 1
          if (counted.conditions > mostConditions) {
            return refuse(
              path,
              `Is one too many: a filter has at most ${mostConditions} conditions`,
            )
          }
          const { error } = conditions.safeParse(rule)
          for (const issue of error?.issues ?? []) {
            context.addIssue({ ...issue, path: [...path, ...issue.path] })
          }
          return !error
        }
        const [kind, content] = group
        const at = [...path, kind]
        if (groups === deepestGroup) {
          return refuse(path, `Is nested too deeply: at most ${deepestGroup} groups in each other`)
        }
        if (kind === 'not') return isRight(content, at, groups + 1, counted)
        if (!Array.isArray(content) || content.length === 0) {
          return refuse(at, 'Is a list of at least one condition')
        }
        return content.every((inner, index) => isRight(inner, [...at, index], groups + 1, counted))
      }

      function refuse(path: (string | number)[], message: string): false {
        context.addIssue({ code: 'custom', path, message })
        return false
      }
    })
}

/** Something with one of these names is meant as a group, whatever else is wrong with it. */
function groupOf(rule: unknown): ['all' | 'any' | 'not', unknown] | undefined {
  if (typeof rule !== 'object' || rule === null || 'path' in rule) return undefined
  const names = Object.keys(rule)
  const [name] = names
  if (names.length !== 1 || (name !== 'all' && name !== 'any' && name !== 'not')) return undefined
  return [name, (rule as Record<string, unknown>)[name]]
}
