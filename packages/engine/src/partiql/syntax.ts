/**
 * Syntax trees of statements. Tables and parameters are not resolved, so all requests with the same text
 * can share one tree. Conditions and updates are those of expressions; their `#` and `:` placeholders are
 * indexes into `names` and `literals`.
 */
import type { ActionSyntax, ConditionSyntax, PathSyntax } from '../expressions/syntax.ts'
import type { Value } from '../values/types.ts'

/** A literal value, or the index of a parameter. */
export type Literal = { readonly value: Value } | { readonly parameter: number }

export type Returning = 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW'

export interface Select {
  readonly type: 'select'
  readonly table: string
  readonly index?: string
  /** Undefined for `*`. */
  readonly paths?: readonly PathSyntax[]
  readonly where?: ConditionSyntax
  readonly order: readonly { readonly name: string; readonly descending: boolean }[]
}

export interface Insert {
  readonly type: 'insert'
  readonly table: string
  readonly item: readonly (readonly [name: string, value: Literal])[]
}

export interface Change {
  readonly type: 'update' | 'delete'
  readonly table: string
  readonly actions: readonly ActionSyntax[]
  readonly where?: ConditionSyntax
  readonly returning?: Returning
}

/** A condition check of a transaction: an item exists and meets a condition. */
export interface Exists {
  readonly type: 'exists'
  readonly select: Select
}

export interface Statement {
  readonly body: Select | Insert | Change | Exists
  readonly names: readonly string[]
  readonly literals: readonly Literal[]
  /** The number of `?`. */
  readonly parameters: number
}
