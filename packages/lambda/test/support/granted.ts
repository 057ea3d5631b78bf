/** Compares recorded calls with what the roles of functions allow. */
import type { Allowance } from '@strongroom/kit/data-model'
import { type LambdaFunction, lambdaFunctions } from '../../src/functions.ts'
import { allowancesOf, kmsActionsOf } from '../../src/permissions.ts'
import type { RecordedCall } from './recorded-calls.ts'

/** Calls that a role denies, without the values of keys. */
export function deniedCalls(calls: readonly RecordedCall[]): string[] {
  const denied = calls.filter((call) => {
    const declared = lambdaFunctions.find(({ name }) => name === call.function)
    return !declared || !isAllowed(declared, call)
  })
  return [...new Set(denied.map(describe))].toSorted()
}

/** What roles allow and no call used. */
export function unusedPermissions(calls: readonly RecordedCall[]): string[] {
  return lambdaFunctions.flatMap((declared) => {
    const own = calls.filter((call) => call.function === declared.name)
    const dynamo = allowancesOf(declared).flatMap((allowance) =>
      permissionsOf(allowance).filter(
        (permission) => !own.some((call) => grants(permission, call)),
      ),
    )
    const kms = kmsActionsOf(declared).filter(
      (action) => !own.some((call) => call.service === 'kms' && call.action === action),
    )
    return [
      ...dynamo.map(({ action, table, index, leadingKeys = [] }) =>
        [declared.name, action, table, index, ...leadingKeys].filter(Boolean).join(' '),
      ),
      ...kms.map((action) => `${declared.name} kms:${action}`),
    ]
  })
}

function isAllowed(declared: LambdaFunction, call: RecordedCall): boolean {
  if (call.service === 'kms') return kmsActionsOf(declared).some((action) => action === call.action)
  return allowancesOf(declared).some((allowance) => {
    const { table, actions, indexes = [], leadingKeys } = allowance
    if (!call.resources.every((name) => name === table.name)) return false
    const hasAction =
      call.index === undefined
        ? actions.some((action) => action === call.action)
        : call.action === 'Query' && indexes.includes(call.index)
    if (!hasAction) return false
    return (
      leadingKeys === undefined ||
      (call.leadingKeys !== undefined &&
        call.leadingKeys.every((key) => leadingKeys.some((pattern) => matches(pattern, key))))
    )
  })
}

interface Permission {
  table: string
  action: string
  index?: string
  leadingKeys?: readonly string[]
}

function permissionsOf({ table, actions, indexes = [], leadingKeys }: Allowance): Permission[] {
  const found: Permission[] = [
    ...actions.map((action) => ({ table: table.name, action })),
    ...indexes.map((index) => ({ table: table.name, action: 'Query', index })),
  ]
  return found.map((permission) => ({ ...permission, ...(leadingKeys && { leadingKeys }) }))
}

function grants({ table, action, index, leadingKeys }: Permission, call: RecordedCall): boolean {
  return (
    call.service === 'dynamodb' &&
    call.action === action &&
    call.index === index &&
    call.resources.includes(table) &&
    (leadingKeys === undefined ||
      (call.leadingKeys ?? []).some((key) => leadingKeys.some((pattern) => matches(pattern, key))))
  )
}

/** As IAM's StringLike with a star at the end. */
function matches(pattern: string, key: string): boolean {
  return pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : pattern === key
}

function describe({ function: name, action, resources, index, leadingKeys = [] }: RecordedCall) {
  const kinds = new Set(leadingKeys.map((key) => key.split('#').slice(0, 2)[0]))
  const shown = leadingKeys.some((key) => key.startsWith('SECRET#')) ? leadingKeys : [...kinds]
  return [name, action, ...resources, index, ...shown].filter(Boolean).join(' ')
}
