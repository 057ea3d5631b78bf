import type { Placeholders } from './placeholders.ts'

export type ConditionKind = 'ConditionExpression' | 'FilterExpression' | 'KeyConditionExpression'
/** A condition with its placeholders resolved; opaque to callers, see `evaluate`. */
export interface Condition {
  readonly type: string
}

export function parseCondition(
  _text: string,
  _kind: ConditionKind,
  _placeholders: Placeholders,
): Condition {
  throw new Error('not yet')
}
