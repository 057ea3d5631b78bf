/** The statements of an IAM policy that allow what declared functions do, and nothing else. */
import type { Allowance, TableAction } from './data-model.ts'
import type { Table } from './table.ts'

export interface PolicyStatement<Arn> {
  Effect: 'Allow'
  Action: string[]
  Resource: Arn[]
  Condition?: Record<string, Record<string, string[]>>
}

/** Allowed actions of a table or an index, with the leading keys of each; undefined is any key. */
interface Access<Arn> {
  arn: Arn
  keys: Map<TableAction, Set<string> | undefined>
}

/**
 * Allowances of one table that overlap are merged, because a role has at most 10,240 characters of
 * policies.
 */
export function tableStatements<Arn>(
  allows: readonly Allowance[],
  arnOf: (table: Table, index?: string) => Arn,
): PolicyStatement<Arn>[] {
  const resources = new Map<string, Access<Arn>>()
  const allow = (
    { table, leadingKeys }: Allowance,
    actions: readonly TableAction[],
    index?: string,
  ) => {
    const name = index === undefined ? table.name : `${table.name}/index/${index}`
    const access = resources.get(name) ?? { arn: arnOf(table, index), keys: new Map() }
    resources.set(name, access)
    for (const action of actions) {
      const known = access.keys.get(action)
      const isAny = leadingKeys === undefined || (access.keys.has(action) && known === undefined)
      access.keys.set(action, isAny ? undefined : new Set([...(known ?? []), ...leadingKeys]))
    }
  }
  for (const allowance of allows) {
    if (allowance.actions.length > 0) allow(allowance, allowance.actions)
    // An index can only be queried.
    for (const index of allowance.indexes ?? []) allow(allowance, ['Query'], index)
  }
  return groupByActions([...resources.values()].flatMap(groupByKeys))
}

/** One statement for the actions that have the same leading keys. */
function groupByKeys<Arn>({ arn, keys }: Access<Arn>): PolicyStatement<Arn>[] {
  const groups = new Map<string, { actions: TableAction[]; leadingKeys: string[] | undefined }>()
  for (const [action, set] of keys) {
    const leadingKeys = set && [...set].toSorted()
    const name = leadingKeys?.join(' ') ?? ''
    const group = groups.get(name) ?? { actions: [], leadingKeys }
    group.actions.push(action)
    groups.set(name, group)
  }
  return Array.from(groups.values(), ({ actions, leadingKeys }) => ({
    Effect: 'Allow',
    Action: actions.toSorted().map((action) => `dynamodb:${action}`),
    Resource: [arn],
    ...(leadingKeys && {
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': leadingKeys } },
    }),
  }))
}

/** One statement for the resources that have the same actions and conditions. */
function groupByActions<Arn>(statements: PolicyStatement<Arn>[]): PolicyStatement<Arn>[] {
  const groups = new Map<string, PolicyStatement<Arn>>()
  for (const statement of statements) {
    const { Action, Condition } = statement
    const name = JSON.stringify([Action, Condition])
    const group = groups.get(name)
    if (group) group.Resource.push(...statement.Resource)
    else groups.set(name, statement)
  }
  return [...groups.values()]
}
