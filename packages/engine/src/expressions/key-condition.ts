import type { Value } from '../values/types.ts'
import type { Placeholders } from './placeholders.ts'

export type KeyType = 'S' | 'N' | 'B'
export interface KeySchema {
  partition: { name: string; type: KeyType }
  sort?: { name: string; type: KeyType } | undefined
}
export type SortOperator = '=' | '<' | '<=' | '>' | '>=' | 'BETWEEN' | 'begins_with'
export interface KeyCondition {
  partition: Value
  sort?: { op: SortOperator; values: Value[] }
}

export function planKeyCondition(
  _text: string,
  _placeholders: Placeholders,
  _keySchema: KeySchema,
): KeyCondition {
  throw new Error('not yet')
}
