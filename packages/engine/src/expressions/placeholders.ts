import type { Value } from '../values/types.ts'

/** The names and values of one request, shared by all its expressions. */
export interface Placeholders {
  name(placeholder: string): string | undefined
  value(placeholder: string): Value | undefined
  assertAllUsed(): void
}

export function createPlaceholders(
  _names?: Record<string, string>,
  _values?: Record<string, Value>,
): Placeholders {
  throw new Error('not yet')
}
