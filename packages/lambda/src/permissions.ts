/** What the role of a function allows: what its parts allow together, each thing once. */
import type { Allowance, KmsAction } from '@strongroom/kit/data-model'
import type { LambdaFunction } from './functions.ts'

export function allowancesOf({ parts }: Pick<LambdaFunction, 'parts'>): Allowance[] {
  const merged = new Map<string, Allowance>()
  for (const allowance of parts.flatMap(({ allows }) => allows)) {
    const { table, leadingKeys, actions, indexes = [] } = allowance
    const key = JSON.stringify([table.name, leadingKeys?.toSorted() ?? null])
    const before = merged.get(key)
    const allIndexes = [...new Set([...(before?.indexes ?? []), ...indexes])]
    merged.set(key, {
      table,
      actions: [...new Set([...(before?.actions ?? []), ...actions])],
      ...(allIndexes.length > 0 && { indexes: allIndexes }),
      ...(leadingKeys && { leadingKeys }),
    })
  }
  return [...merged.values()]
}

export function kmsActionsOf({ parts }: Pick<LambdaFunction, 'parts'>): KmsAction[] {
  return [...new Set(parts.flatMap(({ kms = [] }) => kms))].toSorted()
}
